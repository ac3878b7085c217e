header <- "RID,VISCODE,DX,CDRSB,Hippocampus,AGE,APOE4,PTGENDER"

refused_file <- function(path, message) {
  error <- expect_error(read_adni(path), message, class = "ibrc_error_file")
  expect_identical(error$argument, "file")
  expect_no_match(conditionMessage(error), basename(path), fixed = TRUE)
}

test_that("all columns that are not there are named at once", {
  table <- adni_row(1, "bl")[-c(3, 7)]
  error <- expect_error(read_adni(table), "\"DX\" and \"APOE4\"", class = "ibrc_error_data")
  expect_identical(error$columns, c("DX", "APOE4"))
  path <- adni_file(c("RID,VISCODE,AGE", "1,bl,70"))
  expect_identical(expect_error(read_adni(path), class = "ibrc_error_data")$columns,
                   c("DX", "CDRSB", "Hippocampus", "APOE4", "PTGENDER"))
})

test_that("a column is found in any case, and the exact name goes first", {
  table <- adni_row(1, "bl")
  names(table) <- tolower(names(table))
  expect_identical(as.data.frame(read_adni(table)), as.data.frame(read_adni(adni_row(1, "bl"))))
  both <- cbind(adni_row(1, "bl"), age = "90")
  expect_identical(as.character(read_adni(both)$over_75), "up_to_75")
  names(both)[names(both) == "AGE"] <- "Age"
  expect_identical(expect_error(read_adni(both), "more than one", class = "ibrc_error_data")$columns, "AGE")
})

test_that("files that are no CSV are refused, and why", {
  refused_file(file.path(tempdir(), "nowhere.csv"), "does not exist")
  refused_file(tempdir(), "folder")
  empty <- withr::local_tempfile()
  file.create(empty)
  refused_file(empty, "empty")
  binary <- withr::local_tempfile()
  writeBin(as.raw(c(0x50, 0x4b, 3, 4, 0, 0, 1, 2)), binary)
  refused_file(binary, "not text")
  refused_file(adni_file("some words"), "no commas")
  refused_file(adni_file(gsub(",", ";", header)), "semicolons")
  refused_file(adni_file(header), "no rows")
  refused_file(adni_file(c(header, "")), "no rows")
  refused_file(adni_file(c(header, "1,bl,CN,0,,70,0,Female", "1,m06")), "line 2")
  refused_file(adni_file(c(header, "1,bl,CN,0,,70,0,Female,9,9")), "cannot be read")
  refused_file(adni_file(c(header, "1,bl,\"CN,0,,70,0,Female", "2,bl,CN,0,,70,0,Female")), "cannot be read")
  expect_error(read_adni(adni_row(1, "bl")[0, ]), class = "ibrc_error_data")
  listed <- adni_row(1, "bl")
  listed$AGE <- I(list(70))
  expect_error(read_adni(listed), "plain column", class = "ibrc_error_input")
})

test_that("a mark before the first name is passed over", {
  rows <- adni_rows(adni_row(1, "bl"), adni_row(1, "m06"))
  plain <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(rows, plain, row.names = FALSE)
  marked <- withr::local_tempfile(fileext = ".csv")
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), readBin(plain, "raw", file.size(plain))), marked)
  expect_identical(adni_lines(read_adni(marked)), adni_lines(read_adni(plain)))
})

good <- "1,bl,CN,0,6642,70,0,Female"
bytes_of <- function(...) unlist(lapply(list(...), function(x) if (is.raw(x)) x else charToRaw(x)))
raw_file <- function(bytes, frame = parent.frame()) {
  path <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  writeBin(bytes, path)
  path
}

test_that("a quote that is not closed swallows nobody", {
  rows <- c(good, "2,bl,\"CN,0,,70,0,Female", "3,bl,CN,0,,70,0,Female", "4,bl,CN\",0,,70,0,Female", good)
  refused_file(adni_file(c(header, rows)), "lines 2 and 4 have a quote that is not closed")
  expect_identical(expect_error(read_adni(adni_file(c(header, rows))), class = "ibrc_error_file")$rows, c(2L, 4L))
  # Of a name that fills a cell with the next lines, to the letter a row of eight cells.
  rows <- c(good, "\"2,bl,CN,0,,70,0,Female", "3\",bl,CN,0,,70,0,Female", good)
  refused_file(adni_file(c(header, rows)), "lines 2 and 3")
  refused_file(adni_file(c(header, "2,\"bl,CN\",0,,70,0,Female")), "line 1 has more or fewer cells")
  refused_file(adni_file(c(sub("RID", "\"RID", header), good)), "first line has a quote")
  # Quotes as they should be.
  fine <- adni_file(c("\"note\",RID,VISCODE,DX,CDRSB,Hippocampus,AGE,APOE4,PTGENDER",
                      "\"a, \"\"b\"\", c\",\"1\",\"bl\",\"CN\",0,6642,70,0,\"Female\""))
  expect_identical(adni_lines(read_adni(fine)), "1 0 mri cdr_normal_mri_average")
})

test_that("a file says the same however its lines end and whatever wrote it", {
  lines <- "1 0 mri cdr_normal_mri_average"
  read <- function(...) adni_lines(read_adni(raw_file(bytes_of(...))))
  expect_identical(read(header, "\n", good, "\n"), lines)
  expect_identical(read(header, "\n", good), lines)
  expect_identical(read(header, "\r\n", good, "\r\n"), lines)
  expect_identical(read(header, "\r\n", good), lines)
  expect_identical(read(header, "\r", good), lines)
  expect_identical(read("\n\n", header, "\n\n", good, "\n \t\n\n"), lines)
  expect_identical(read(as.raw(c(0xef, 0xbb, 0xbf)), header, "\n", good), lines)
  wide <- function(order) iconv(paste0(header, "\r\n", good, "\r\n"), "UTF-8", order, toRaw = TRUE)[[1]]
  expect_identical(read(as.raw(c(0xff, 0xfe)), wide("UTF-16LE")), lines)
  expect_identical(read(as.raw(c(0xfe, 0xff)), wide("UTF-16BE")), lines)
  refused_file(raw_file(wide("UTF-16LE")), "not text")
  # One patient in latin1 and in UTF-8, who is one and the same.
  latin <- read(header, "\n", as.raw(c(0x50, 0xe9)), good)
  expect_identical(latin, read(header, "\n", as.raw(c(0x50, 0xc3, 0xa9)), good))
  expect_identical(latin, paste0("P\u00e9", lines))
  # Blanks that are none of a keyboard's.
  expect_identical(read(sub("VISCODE", "VISCODE\u00a0", header), "\n", sub("bl", "\u200bbl\u00a0", good)), lines)
  for (other in c(";", "\t")) refused_file(adni_file(gsub(",", other, c(header, good))), "save it with commas")
  refused_file(raw_file(bytes_of("\n\n")), "empty")
})
