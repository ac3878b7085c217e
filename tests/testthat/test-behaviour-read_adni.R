test_that("visits become actions and what was seen after them", {
  cohort <- read_adni(adni_rows(
    adni_row(1, "bl", "0", 6642), adni_row(1, "m06", "0.5"), adni_row(1, "m12", "2.5", 6029.4),
    adni_row(1, "m18", "3", 6029.5), adni_row(2, "bl", "18", 7254.5), adni_row(2, "m06", "0", 7254.6)
  ))
  expect_s3_class(cohort, c("ibrc_cohort", "ibrc_trajectories", "data.frame"), exact = TRUE)
  expect_identical(adni_lines(cohort), c(
    "1 0 mri cdr_normal_mri_average", "1 6 no_mri cdr_questionable_mri_none",
    "1 12 mri cdr_questionable_mri_low", "1 18 mri cdr_severe_mri_average",
    "2 0 mri cdr_severe_mri_average", "2 6 mri cdr_normal_mri_high"
  ))
  expect_identical(levels(cohort$action), c("no_mri", "mri"))
  expect_length(levels(cohort$observation), 12)
  expect_identical(attr(cohort, "roles")$covariates, c("over_75", "apoe4", "sex", "diagnosis", "age"))
  expect_identical(attr(cohort, "cuts"), list(cdr = c(0, 2.5), mri = c(6029.5, 7254.5)))
})

# One table with everything that happens; the counts below are worked out by hand.
messy <- adni_rows(
  adni_row(7, "m12", "1"), adni_row(7, "bl", "0", 7000), adni_row(7, "m06", "0.5"),     # unsorted
  adni_row(3, "bl"), adni_row(3, "m06"), adni_row(3, "m18"), adni_row(3, "m24"),        # a gap: two rows go
  adni_row(4, "bl"), adni_row(4, "m6", CDRSB = ""), adni_row(4, "m012"),                # no rating at m6: so does m12
  adni_row(5, "m06"), adni_row(5, "m12"),                                               # no baseline
  adni_row(6, "bl", CDRSB = "-4"), adni_row(6, "m06"),                                  # no rating at baseline
  adni_row(8, "bl", "1"), adni_row(8, "bl", "2", 5000), adni_row(8, "bl", "3", 8000),   # three rows, one visit
  adni_row(9, "bl"), adni_row(9, "m03", NA, 6000), adni_row(9, "m06", DX = ""),         # a scan between visits
  adni_row(NA, "bl"), adni_row(9, "sc"), adni_row(10, NA)                               # nobody, no month, no month
)

test_that("each rule takes the rows it should, and the flow counts them", {
  cohort <- read_adni(messy)
  expect_identical(adni_lines(cohort), c(
    "7 0 mri cdr_normal_mri_average", "7 6 no_mri cdr_questionable_mri_none",
    "7 12 no_mri cdr_questionable_mri_none",
    "3 0 no_mri cdr_normal_mri_none", "3 6 no_mri cdr_normal_mri_none",
    "4 0 no_mri cdr_normal_mri_none", "8 0 mri cdr_questionable_mri_low",
    "9 0 no_mri cdr_normal_mri_none", "9 6 no_mri cdr_normal_mri_none"
  ))
  counts <- as.data.frame(flow(cohort))
  expect_identical(counts$step, c("read", "visit", "schedule", "duplicate", "cdr", "baseline", "gap"))
  expect_identical(counts$patients, c(8L, 7L, 7L, 7L, 7L, 5L, 5L))
  expect_identical(counts$visits, c(23L, 20L, 19L, 17L, 15L, 12L, 9L))
  expect_identical(counts$dropped_patients, c(0L, 1L, 0L, 0L, 0L, 2L, 0L))
  expect_identical(counts$dropped_visits, c(0L, 3L, 1L, 2L, 2L, 3L, 3L))
})

test_that("rows may stand in any order", {
  patients <- function(cohort) split(adni_lines(cohort), cohort$RID)
  whole <- read_adni(messy)
  # Which of several complete rows is first depends on the order: leave one out.
  single <- messy[-17, ]
  with_seed(5, for (i in 1:5) {
    shuffled <- read_adni(single[sample(nrow(single)), ])
    expect_identical(patients(shuffled), patients(whole))
  })
})

test_that("a file says the same as a data frame", {
  path <- withr::local_tempfile(fileext = ".csv")
  more <- cbind(extra = "a, \"b\"", messy, PTID = "x")
  names(more)[2:4] <- c("rid", "VisCode", "dx")
  utils::write.csv(more, path, row.names = FALSE)
  expect_equal(read_adni(path), read_adni(messy))
  expect_type(read_adni(path)$RID, "character")
  packed <- withr::local_tempfile(fileext = ".csv.gz")
  connection <- gzfile(packed, "w")
  writeLines(readLines(path), connection)
  close(connection)
  expect_identical(read_adni(packed), read_adni(path))
  marked <- withr::local_tempfile(fileext = ".csv")
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), readBin(path, "raw", 1e5)), marked)
  expect_identical(read_adni(marked), read_adni(path))
})

test_that("columns may be factors and numbers", {
  typed <- messy
  numbers <- c("CDRSB", "Hippocampus", "AGE", "APOE4")
  names <- c("DX", "VISCODE", "PTGENDER")
  typed[numbers] <- lapply(typed[numbers], as.numeric)
  typed[names] <- lapply(typed[names], factor)
  expect_identical(read_adni(typed), read_adni(messy))
})

test_that("groups are the patient's, and missing is a level of its own", {
  cohort <- read_adni(adni_rows(
    adni_row(1, "bl", AGE = "75", APOE4 = "", PTGENDER = "Male", DX = "MCI"),
    adni_row(1, "m06", AGE = "75.5", APOE4 = "2", DX = "MCI to Dementia"),
    adni_row(2, "bl", AGE = "75.1", APOE4 = "NA", DX = ""), adni_row(3, "bl", AGE = "-4", APOE4 = "1", PTGENDER = ""),
    adni_row(3, "m06", AGE = "", APOE4 = "1", PTGENDER = "", DX = "Dementia"),
    adni_row(4, "bl", APOE4 = "-4", DX = "NL to MCI")
  ))
  first <- cohort[!duplicated(cohort$RID), ]
  expect_identical(as.character(first$over_75), c("up_to_75", "over_75", "missing", "up_to_75"))
  expect_identical(as.character(first$apoe4), c("carrier", "missing", "carrier", "missing"))
  expect_identical(as.character(first$sex), c("male", "female", "missing", "female"))
  expect_identical(as.character(first$diagnosis), c("mci", "missing", "normal", "mci"))
  expect_true(all(tapply(as.character(cohort$apoe4), cohort$RID, function(x) length(unique(x))) == 1))
  younger <- read_adni(messy, age_cut = 69.5)
  expect_identical(levels(younger$over_69.5), c("up_to_69.5", "over_69.5", "missing"))
  expect_true(all(younger$over_69.5 == "over_69.5"))
})

test_that("the population's mean and sd can be the data's", {
  rows <- adni_rows(adni_row(1, "bl", Hippocampus = 4000), adni_row(2, "bl", Hippocampus = 6000),
                    adni_row(3, "bl", Hippocampus = 8000), adni_row(4, "m06", Hippocampus = 90000))
  own <- read_adni(rows, mean = "data", sd = "data")
  expect_equal(attr(own, "cuts")$mri, c(5000, 7000))
  expect_identical(as.character(own$observation), paste0("cdr_normal_mri_", c("low", "average", "high")))
  expect_equal(attr(read_adni(rows, mean = 5000, sd = "data"), "cuts")$mri, c(4000, 6000))
  expect_error(read_adni(rows[1, ], sd = "data"), class = "ibrc_error_input")
  expect_error(read_adni(adni_row(1, "bl"), mean = "data"), class = "ibrc_error_input")
})

test_that("diagnoses that go back can be left out", {
  rows <- adni_rows(
    adni_row(1, "bl", DX = "MCI"), adni_row(1, "m06", DX = ""), adni_row(1, "m12", DX = "MCI to NL"),
    adni_row(2, "bl", DX = "NL"), adni_row(2, "m06", DX = "NL to MCI"), adni_row(2, "m12", DX = "Dementia"),
    adni_row(3, "bl", DX = "Dementia"), adni_row(3, "m12", DX = "MCI"), adni_row(4, "bl", DX = "NL")
  )
  expect_identical(unique(read_adni(rows)$RID), c("1", "2", "3", "4"))
  stable <- read_adni(rows, stable_diagnosis = TRUE)
  expect_identical(unique(stable$RID), c("2", "3", "4"))
  last <- utils::tail(as.data.frame(flow(stable)), 1)
  expect_identical(last$step, "diagnosis")
  expect_identical(c(last$dropped_patients, last$dropped_visits), c(1L, 3L))
})

test_that("a cohort where nothing is left says which step took the last row", {
  error <- expect_error(read_adni(adni_row(271828, "m06")), "baseline", class = "ibrc_error_data")
  expect_no_match(conditionMessage(error), "271828")
  expect_identical(error$flow$visits[1], 1L)
  expect_error(read_adni(adni_row(1, "bl", CDRSB = "")), "CDR-SB", class = "ibrc_error_data")
})

test_that("arguments are checked before anything is read", {
  for (bad in list(0, -1, NA, "a", c(1, 2), NULL, Inf)) {
    expect_identical(expect_error(read_adni("no such file", mean = bad), class = "ibrc_error_input")$argument, "mean")
    expect_identical(expect_error(read_adni("no such file", sd = bad), class = "ibrc_error_input")$argument, "sd")
    expect_identical(expect_error(read_adni("no such file", age_cut = bad), class = "ibrc_error_input")$argument,
                     "age_cut")
  }
  expect_error(read_adni(messy, stable_diagnosis = NA), class = "ibrc_error_input")
  expect_error(read_adni(1), class = "ibrc_error_input")
  expect_error(read_adni(c("a", "b")), class = "ibrc_error_input")
})

test_that("a diagnosis goes back only from one that is known, within a patient", {
  expect_identical(reverts(c(1, 1), c("mci", NA)), c(FALSE, FALSE))
  expect_identical(reverts(c(1, 1, 1, 2), c("dementia", NA, "mci", "normal")), c(FALSE, FALSE, TRUE, FALSE))
})

test_that("nobody becomes somebody else: identifiers are text", {
  patients <- function(RID) {
    rows <- adni_rows(adni_row("x", "bl"), adni_row("x", "bl", CDRSB = "1"), adni_row("x", "bl", CDRSB = "3"))
    rows$RID <- RID
    read_adni(rows)
  }
  long <- c("100000000000000001", "100000000000000002", "100000000000000003")
  expect_identical(patients(long)$RID, long)
  expect_identical(patients(factor(long))$RID, long)
  expect_identical(patients(c("0123", "123", " 0123x "))$RID, c("0123", "123", "0123x"))
  expect_identical(patients(c("1e3", "1000", "1000.0"))$RID, c("1e3", "1000", "1000.0"))
  expect_identical(patients(c(1e5, 123456789012, 7))$RID, c("100000", "123456789012", "7"))
  expect_identical(patients(100000L * 1:3)$RID, c("100000", "200000", "300000"))
  expect_identical(patients(c(0.1 + 0.2, 0.3, 1))$RID, c("0.30000000000000004", "0.3", "1"))
  # The same from a file.
  path <- adni_file(c(names(adni_row(1, "bl")) |> paste(collapse = ","), paste0(long, ",bl,CN,0,,70,0,Female"),
                      "0123,bl,CN,0,,70,0,Female", "123,bl,CN,0,,70,0,Female"))
  expect_identical(read_adni(path)$RID, c(long, "0123", "123"))
  # Nobody is merged with somebody who is written with blanks.
  for (alike in list(c("7", " 7", "8"), c("7", "7\t", "8"), c("\"7\"", " 7", "8"))) {
    error <- expect_error(patients(alike), "only in blanks", class = "ibrc_error_data")
    expect_equal(error$rows, 2)
  }
  # Nor with somebody who is written with quotes.
  for (alike in list(c("q", "'q'", "8"), c("q", "\"q\"", "8"), c("'q'", "\"q\"", NA))) {
    error <- expect_error(patients(alike), "only in quotes", class = "ibrc_error_data")
    expect_equal(error$rows, 2)
  }
  expect_identical(patients(c("'7'", "'8'", "9"))$RID, c("7", "8", "9"))
  # Digits that are lost already.
  error <- expect_error(patients(c(1, 1e17, 3)), "more digits", class = "ibrc_error_data")
  expect_equal(error$rows, 2)
  expect_no_match(conditionMessage(error), "1e+17", fixed = TRUE)
})

test_that("whole numbers of 64 bits keep their digits, with bit64 and without", {
  # 100000000000000001 and 100000000000000002, a missing one and -5, in the bits of doubles.
  bits <- as.raw(c(0x01, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01, 0x02, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01,
                   rep(0, 7), 0x80, 0xfb, rep(0xff, 7)))
  long <- structure(readBin(bits, "double", 4, endian = "little"), class = "integer64")
  rows <- adni_rows(adni_row("x", "bl"), adni_row("x", "bl"), adni_row("x", "bl"), adni_row("x", "bl"))
  rows$RID <- long
  expect_identical(read_adni(rows)$RID, c("100000000000000001", "100000000000000002", "-5"))
  expect_identical(flow(read_adni(rows))$visits[1:2], c(4L, 3L))
  skip_if_not_installed("bit64")
  # Neither needed by the package nor suggested.
  text_of <- getExportedValue("bit64", "as.character.integer64")
  expect_identical(integer64_text(long), text_of(long))
  values <- getExportedValue("bit64", "as.integer64")(c(
    "0", "1", "-1", "4294967296", "-4294967295", "999999", "9223372036854775807", "-9223372036854775807", NA
  ))
  expect_identical(integer64_text(values), text_of(values))
})

test_that("numbers in the disguise of text are read, or the table is refused", {
  volumes <- c("6,642.1", "7,300", "5,000.25")
  rows <- adni_rows(adni_row(1, "bl", "0", volumes[1]), adni_row(2, "bl", "0.5", volumes[2]),
                    adni_row(3, "bl", "3", volumes[3]))
  sizes <- paste0("mri_", c("average", "high", "low"))
  expect_match(as.character(read_adni(rows)$observation), sizes[1], all = FALSE)
  expect_identical(sub(".*_mri", "mri", read_adni(rows)$observation), sizes)
  rows$Hippocampus <- c("6642,1", "7300", "5000,25")
  rows$CDRSB <- c("0", "0,5", "3")
  expect_identical(sub(".*_mri", "mri", read_adni(rows)$observation), sizes)
  expect_match(as.character(read_adni(rows)$observation[2]), "cdr_questionable")
  # What reads as either is told by the volumes that there are.
  rows$Hippocampus <- c("6,642", "7,300", "5,000")
  expect_identical(sub(".*_mri", "mri", read_adni(rows)$observation), sizes)
  # Both signs as decimal marks, cubic centimetres, codes for missing, words.
  for (bad in list(c("6642,1", "7300.5", "5000.25"), c(6.6, 7.3, 5), c(6642, -9, 5000), c("6642", "seen", "5000"))) {
    rows$Hippocampus <- bad
    error <- expect_error(read_adni(rows), "cannot be read", class = "ibrc_error_data")
    expect_identical(error$argument, "file")
    expect_identical(error$columns, "Hippocampus")
    expect_true(length(error$rows) > 0 && error$share > 0.05)
  }
})

test_that("up to one in twenty values may be unreadable", {
  rows <- do.call(rbind, lapply(1:20, adni_row, "bl", AGE = "71"))
  rows$AGE[7] <- "old"
  expect_warning(read_adni(rows), "AGE (row 7)", fixed = TRUE, class = "ibrc_warning_unreadable")
  rows$AGE[9] <- "old"
  error <- expect_error(read_adni(rows), "10% of its values, rows 7 and 9", class = "ibrc_error_data")
  expect_equal(error$rows, c(7, 9))
  expect_equal(error$share, 0.1)
})

test_that("missing values of other programs are missing", {
  rows <- adni_rows(adni_row(1, "bl", "0", 6642), adni_row(1, "m06", "0.5"), adni_row(2, "bl", "3"))
  lines <- adni_lines(read_adni(rows))
  rows$Hippocampus <- structure(c(6642, -9, -8), na_values = -9, na_range = c(-Inf, -1), labels = c(none = -9),
                                class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  expect_identical(adni_lines(read_adni(rows)), lines)
  # A code means what its label says.
  rows$PTGENDER <- structure(c(1, 1, 0), class = c("haven_labelled", "vctrs_vctr", "double"),
                             labels = c(Male = 0, Female = 1))
  expect_identical(as.character(read_adni(rows)$sex), c("female", "female", "male"))
  rows$Hippocampus <- addNA(factor(c("6642", NA, NA)))
  rows$RID <- addNA(factor(c(1, 1, NA)))
  expect_identical(adni_lines(read_adni(rows)), lines[1:2])
})
