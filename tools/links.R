# Every link of a built site that points into the site must lead somewhere: to a file
# and, where it names one, to a place in it.
#
#   Rscript tools/links.R [folder]

folder <- c(commandArgs(TRUE), "site")[1]
pages <- list.files(folder, "[.]html$", recursive = TRUE)
if (!length(pages)) stop("no page in ", folder)
read <- function(page) xml2::read_html(file.path(folder, page))
documents <- stats::setNames(lapply(pages, read), pages)
places <- lapply(documents, function(page) {
  c("", xml2::xml_text(xml2::xml_find_all(page, "//@id | //a/@name")))
})

# "../a/./b" from a folder, without a look at the disk.
tidy_path <- function(path) {
  out <- character()
  for (part in strsplit(path, "/", fixed = TRUE)[[1]]) {
    if (part == "..") out <- out[-length(out)] else if (!part %in% c("", ".")) out <- c(out, part)
  }
  paste(out, collapse = "/")
}

links_of <- function(page) {
  pointers <- "//a/@href | //link/@href | //img/@src | //script/@src"
  found <- xml2::xml_text(xml2::xml_find_all(documents[[page]], pointers))
  found <- found[!grepl("^([a-z][a-z0-9+.-]*:|//)", found, ignore.case = TRUE)]
  if (!length(found)) return(NULL)
  path <- utils::URLdecode(sub("[?#].*", "", found))
  place <- utils::URLdecode(ifelse(grepl("#", found), sub("^[^#]*#", "", found), ""))
  whole <- ifelse(path == "", page, ifelse(startsWith(path, "/"), path, file.path(dirname(page), path)))
  target <- vapply(whole, tidy_path, "", USE.NAMES = FALSE)
  is_folder <- dir.exists(file.path(folder, target))
  target[is_folder] <- sub("^/", "", file.path(target[is_folder], "index.html"))
  data.frame(page = page, link = found, target = target, place = place)
}

links <- unique(do.call(rbind, lapply(pages, links_of)))
lost <- !file.exists(file.path(folder, links$target))
nowhere <- !lost & !mapply(function(target, place) place %in% c("", places[[target]]), links$target, links$place)
dead <- links[lost | nowhere, c("page", "link")]
cat(nrow(links), "links in", length(pages), "pages,", nrow(dead), "of them dead\n")
if (nrow(dead)) {
  print(dead, row.names = FALSE)
  quit(status = 1)
}
