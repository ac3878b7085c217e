# A real browser, driven over the WebDriver protocol (W3C) by plain HTTP: chromedriver takes
# requests with JSON bodies, and answers with JSON. Scripts hand their answers back in
# URL encoding, so that no JSON has to be read here.

skip_without_browser <- function() {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
  testthat::skip_if(!nzchar(Sys.which("chromedriver")) || !nzchar(browser_path()),
                    "No Chromium with chromedriver here")
  testthat::skip_if(grepl("asan", Sys.getenv("LD_PRELOAD")), "No browser starts with a sanitizer in it")
}

browser_path <- function() {
  found <- Sys.which(c("chromium", "google-chrome", "chromium-browser"))
  c(unname(found[nzchar(found)]), "")[1]
}

# Starts a program and reads what it says up to the line that `ready` matches; gives what the
# group in `ready` matched, and the connection to read on from. The program ends with `frame`.
start_program <- function(command, ready, frame = parent.frame()) {
  program <- pipe(paste("echo $$; exec", command, "2>&1"), "r")
  process <- as.integer(readLines(program, 1))
  withr::defer({
    tools::pskill(process)
    close(program)
  }, envir = frame)
  said <- character()
  repeat {
    line <- readLines(program, 1)
    if (!length(line)) stop("did not start: ", paste(said, collapse = "\n"))
    if (grepl(ready, line)) {
      return(list(ready = sub(paste0(".*", ready, ".*"), "\\1", line), program = program))
    }
    said <- c(said, line)
  }
}

# An R process that runs some code with the package attached.
start_r <- function(code, ready, frame = parent.frame()) {
  libraries <- paste0(".libPaths(", paste(deparse(.libPaths()), collapse = ""), ")")
  script <- withr::local_tempfile(fileext = ".R", .local_envir = frame, lines = c(libraries, "library(ibrc)", code))
  start_program(paste(shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script)), ready, frame)
}

# Fails after a minute, rather than waiting for ever.
request <- function(port, method, path, body = "") {
  connection <- socketConnection("127.0.0.1", port, open = "r+b", blocking = TRUE, timeout = 60)
  on.exit(close(connection))
  head <- c(paste(method, path, "HTTP/1.1"), paste0("Host: 127.0.0.1:", port), "Content-Type: application/json",
            paste("Content-Length:", nchar(body, "bytes")), "Connection: close")
  writeBin(charToRaw(enc2utf8(paste0(paste0(head, "\r\n", collapse = ""), "\r\n", body))), connection)
  size <- NA
  while (nzchar(line <- readLines(connection, 1))) {
    if (grepl("^content-length:", line, ignore.case = TRUE)) size <- as.integer(sub(".*: *", "", line))
  }
  answer <- raw()
  while (length(answer) < size) {
    more <- readBin(connection, "raw", size - length(answer))
    if (!length(more)) stop("the browser hung up")
    answer <- c(answer, more)
  }
  answer <- rawToChar(answer)
  if (grepl("\"error\":", answer, fixed = TRUE)) stop(method, " ", path, ": ", substr(answer, 1, 500))
  answer
}

json_text <- function(x) encodeString(x, quote = "\"")

answer_field <- function(answer, field) {
  sub(paste0(".*\"", field, "\":\"([^\"]*)\".*"), "\\1", answer)
}

# A browser of a width and height in pixels that is closed with `frame`.
open_browser <- function(address, width = 900, height = 800, frame = parent.frame()) {
  # What it writes goes where it is swept up.
  folder <- withr::local_tempdir(.local_envir = frame)
  withr::local_envvar(TMPDIR = folder)
  driver <- start_program(paste(shQuote(Sys.which("chromedriver")), "--port=0"),
                          "started successfully on port ([0-9]+)", frame)
  port <- as.integer(driver$ready)
  flags <- c("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-quic", "no-first-run",
             "disable-background-networking", "disable-component-update", "disable-sync",
             paste0("user-data-dir=", file.path(folder, "profile")))
  # Windows have a least width of their own; an emulated screen has none.
  screen <- sprintf('{"width":%d,"height":%d,"pixelRatio":1,"touch":false,"mobile":false}', width, height)
  options <- sprintf('{"binary":%s,"args":[%s],"mobileEmulation":{"deviceMetrics":%s}}', json_text(browser_path()),
                     paste(json_text(paste0("--", flags)), collapse = ","), screen)
  answer <- request(port, "POST", "/session",
                    sprintf('{"capabilities":{"alwaysMatch":{"goog:chromeOptions":%s}}}', options))
  browser <- list(port = port, path = paste0("/session/", answer_field(answer, "sessionId")))
  withr::defer(request(port, "DELETE", browser$path), envir = frame)
  request(port, "POST", paste0(browser$path, "/url"), sprintf('{"url":%s}', json_text(address)))
  browser
}

# The value of an expression of JavaScript, as text.
ask <- function(browser, expression) {
  script <- sprintf("return encodeURIComponent(String(%s))", expression)
  answer <- request(browser$port, "POST", paste0(browser$path, "/execute/sync"),
                    sprintf('{"script":%s,"args":[]}', json_text(script)))
  text <- utils::URLdecode(answer_field(answer, "value"))
  Encoding(text) <- "UTF-8"
  text
}

wait_until <- function(browser, condition, seconds = 20) {
  end <- Sys.time() + seconds
  while (Sys.time() < end) {
    if (ask(browser, condition) == "true") return(invisible())
    Sys.sleep(0.05)
  }
  stop("waited in vain for ", condition)
}

element <- function(browser, selector) {
  answer <- request(browser$port, "POST", paste0(browser$path, "/element"),
                    sprintf('{"using":"css selector","value":%s}', json_text(selector)))
  paste0(browser$path, "/element/", sub(".*\"([^\"]+)\"}}.*", "\\1", answer))
}

# Keys by the protocol's code points, in JSON's escapes.
keys <- c(left = "\\uE012", right = "\\uE014", home = "\\uE011", end = "\\uE010", control = "\\uE009")

press <- function(browser, selector, key) {
  request(browser$port, "POST", paste0(element(browser, selector), "/value"), sprintf('{"text":"%s"}', key))
}

click <- function(browser, selector) {
  request(browser$port, "POST", paste0(element(browser, selector), "/click"), "{}")
}
