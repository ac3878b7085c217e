# The page of explore_agent(): sliders, picture, bars, code.

explore_page <- function(sliders, setting, done) {
  part <- function(name) {
    path <- system.file("explore", name, package = "ibrc")
    paste(readLines(path, encoding = "UTF-8"), collapse = "\n")
  }
  tags <- shiny::tags
  shiny::bootstrapPage(
    title = "Explore an agent", lang = "en",
    tags$head(tags$style(shiny::HTML(part("explore.css"))), tags$script(shiny::HTML(part("explore.js")))),
    tags$main(
      class = "ibrc-explore",
      tags$span(id = "dark", class = "ibrc-ground", hidden = NA),
      tags$header(class = "ibrc-heading", tags$h1("A boundedly rational agent"),
                  if (done) shiny::actionButton("done", "Done", class = "btn-primary btn-sm")),
      tags$section(class = "ibrc-sliders", `aria-label` = "The agent", unname(lapply(sliders, slider_box))),
      tags$section(class = "ibrc-picture", `aria-label` = "What it does",
                   shiny::plotOutput("picture", height = if (length(setting$states) == 2) "320px" else "420px")),
      tags$section(class = "ibrc-numbers", `aria-label` = "What its thinking costs",
                   shiny::uiOutput("complexity"),
                   shiny::textOutput("start", container = function(...) {
                     tags$p(class = "ibrc-start", `aria-live` = "polite", ...)
                   })),
      tags$section(class = "ibrc-code", `aria-labelledby` = "code_title",
                   tags$div(tags$h2(id = "code_title", "The same in R"),
                            tags$span(id = "copy_status", role = "status"),
                            tags$button(id = "copy", type = "button", class = "btn btn-default btn-sm", "Copy")),
                   tags$pre(id = "code", class = "shiny-text-output", tabindex = "0",
                            `aria-labelledby` = "code_title"))
    )
  )
}

slider_box <- function(slider) {
  tags <- shiny::tags
  numbers <- number_text_each(slider$values)
  at <- slider$start
  tags$div(
    class = "ibrc-slider-box",
    tags$div(tags$label(`for` = slider$name, title_case(slider$name),
                        tags$span(shiny::HTML(paste0("1/&", slider$price, ";")))),
             tags$output(id = paste0(slider$name, "_number"), `for` = slider$name, numbers[at])),
    tags$input(type = "range", class = "ibrc-slider", id = slider$name, min = 1, max = length(numbers), step = 1,
               value = at, autocomplete = "off", `data-numbers` = paste(numbers, collapse = "|"),
               `data-words` = paste(slider$words, collapse = "|"),
               `aria-valuetext` = paste0(numbers[at], ", ", slider$words[at])),
    tags$div(class = "ibrc-ends", `aria-hidden` = "true", unname(lapply(slider$ends, tags$span))),
    tags$p(id = paste0(slider$name, "_words"), slider$words[at])
  )
}

number_text_each <- function(values) vapply(values, number_text, "")

title_case <- function(word) paste0(upper_case(substr(word, 1, 1)), substring(word, 2))

# complexity() as bars on one axis with zero in the middle: recognition is negative under
# the constant belief prior. `most` nats either way fill the axis.
complexity_bars <- function(table, most) {
  tags <- shiny::tags
  row <- function(i) {
    tags$tr(tags$th(scope = "row", title_case(table$complexity[i])),
            tags$td(class = "ibrc-bar", nats_bar(table$nats[i], most)),
            tags$td(class = "ibrc-nats", fixed_text(table$nats[i])),
            tags$td(class = "ibrc-cost", fixed_text(table$cost[i])))
  }
  tags$table(
    class = "ibrc-bars",
    tags$caption("How far it departs from its priors"),
    tags$thead(tags$tr(tags$th(scope = "col", "complexity"), tags$td(),
                       tags$th(scope = "col", "nats per visit"), tags$th(scope = "col", "cost"))),
    tags$tbody(lapply(seq_len(nrow(table)), row))
  )
}

nats_bar <- function(nats, most) {
  length <- 100 * min(abs(nats) / most, 1)
  tags <- shiny::tags
  tags$svg(
    viewBox = "-100 0 200 10", preserveAspectRatio = "none", `aria-hidden` = "true",
    tags$rect(x = if (nats < 0) -length else 0, y = 1, width = length, height = 8, class = "ibrc-length"),
    tags$line(x1 = 0, x2 = 0, y1 = 0, y2 = 10, class = "ibrc-zero", `vector-effect` = "non-scaling-stroke")
  )
}

fixed_text <- function(x) formatC(round(x, 4) + 0, format = "f", digits = 4)
