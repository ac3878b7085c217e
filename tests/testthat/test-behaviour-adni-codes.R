plain <- function(x) as.vector(x)

test_that("months are read from visit codes", {
  expect_identical(read_month(c("bl", "BL", "m06", "m6", "m006", "M12", " m120 ", "m0", "\"m18\"")),
                   c(0, 0, 6, 6, 6, 12, 120, 0, 18))
  expect_identical(read_month(c("sc", "", NA, "12", "m", "mm06", "m-6", "uns1")), rep(NA_real_, 8))
})

test_that("numbers are read from what tables have for them", {
  read <- read_measure(c("0.5", "\"1\"", " 2 ", "<3", "> 4", ">=5", "", "NA", "-4", "-1.0", NA), 0, 18)
  expect_identical(plain(read), c(0.5, 1, 2, 3, 4, 5, rep(NA, 5)))
  expect_length(attr(read, "unreadable"), 0)
  odd <- read_measure(c("1", "high", "19", "-2", "Inf", "1x5"), 0, 18)
  expect_identical(plain(odd), c(1, rep(NA, 5)))
  expect_identical(attr(odd, "unreadable"), 2:6)
  expect_identical(attr(odd, "given"), 6L)
  expect_identical(plain(read_measure(c("1", "1,5", "0,25", NA), 0, 18)), c(1, 1.5, 0.25, NA))
  expect_identical(plain(read_measure(c("\u00a01.5", "2\u200b", "\u00a0"), 0, 18)), c(1.5, 2, NA))
  expect_identical(attr(read_measure(c(1, -4, NA, 99), 0, 18), "unreadable"), 4L)
})

test_that("a diagnosis is the last one named", {
  expect_identical(plain(read_diagnosis(c("NL", "CN", "MCI", "Dementia", "MCI to Dementia", "NL to MCI",
                                          "Dementia to MCI", "mci TO nl", "AD", "LMCI", "", NA, "-4"))),
                   c("normal", "normal", "mci", "dementia", "dementia", "mci", "mci", "normal", "dementia", "mci",
                     NA, NA, NA))
  expect_identical(attr(read_diagnosis(c("NL", "migraine")), "unreadable"), 2L)
})

test_that("sex and APOE4 are read, and missing stays missing", {
  expect_identical(plain(read_sex(c("Male", "female", "F", "1", "2", "", NA))),
                   c("male", "female", "female", "male", "female", NA, NA))
  expect_identical(plain(read_apoe4(c("0", "1", "2", "", "-4", NA))),
                   c("non_carrier", "carrier", "carrier", NA, NA, NA))
  expect_identical(attr(read_apoe4(c("0", "3")), "unreadable"), 2L)
  expect_identical(attr(read_apoe4(c("0", "0.5", "4", "", "2")), "unreadable"), 2:3)
})

test_that("identifiers are text, and the codes of missing are none", {
  expect_identical(read_rid(c("3", "12", "", "NA", " \u00a07 ")), c("3", "12", NA, NA, "7"))
  expect_identical(read_rid(factor(c("a1", "b2"))), c("a1", "b2"))
  expect_identical(read_rid(c(3.0, NA, -4, Inf)), c("3", NA, NA, NA))
})

test_that("of the quotes in an identifier one pair around the whole goes, and no other", {
  expect_identical(read_rid(c("O'Brien", "OBrien", "'12'", "\"13\"", "1\"2", "1'2", "'12", "''12''", "n'a", "'NA'")),
                   c("O'Brien", "OBrien", "12", "13", "1\"2", "1'2", "'12", "'12'", "n'a", NA))
  expect_identical(read_rid(c("'", "\"\"", "\"'7'\"", "'\u00e9'", NA)), c("'", NA, "'7'", "\u00e9", NA))
})

test_that("identifiers that look the same are refused by their rows", {
  twins <- c("1\"2", "12", "1'2", "'12'", "1\u200b2", "1\u00ad2", " 12", "12\u00a0", "a b", "a  b")
  refused <- expect_error(read_rid(twins), "invisible characters", class = "ibrc_error_data")
  expect_identical(refused$rows, c(5L, 6L, 7L, 8L, 10L))
  expect_identical(refused$argument, "file")
  expect_no_match(conditionMessage(refused), "12")
  expect_identical(read_rid(factor(twins[1:3])), c("1\"2", "12", "1'2"))
  refused <- expect_error(read_rid(factor(twins[1:4])), "only in quotes", class = "ibrc_error_data")
  expect_identical(refused$rows, 4L)
  expect_no_match(conditionMessage(refused), "12")
  expect_identical(read_rid(c("'NA'", "NA", "\"\"", "8")), c(NA, NA, NA, "8"))
  # Blanks that every row of a patient has are no more than blanks.
  expect_identical(read_rid(c(" 12", " 12", "\" 7 \"")), c("12", "12", "7"))
  path <- adni_file(c("RID,VISCODE,DX,CDRSB,Hippocampus,AGE,APOE4,PTGENDER",
                      paste0(c("\"1\"\"2\"", "\"12\"", "O'Brien", "OBrien"), ",bl,CN,0,,70,0,Female")))
  expect_identical(read_adni(path)$RID, c("1\"2", "12", "O'Brien", "OBrien"))
})

test_that("what cannot be read counts as missing, with a warning that names the rows", {
  rows <- adni_rows(adni_row(271828, "bl", CDRSB = "1"), adni_row(271828, "m06", CDRSB = "later"),
                    adni_row(314159, "bl", Hippocampus = "blurred", DX = "migraine"))
  rows <- rbind(rows, do.call(rbind, lapply(1:20, adni_row, "bl", Hippocampus = 6642)))
  warning <- expect_warning(cohort <- read_adni(rows), class = "ibrc_warning_unreadable")
  expect_match(conditionMessage(warning), "CDRSB (row 2); Hippocampus (row 3); DX (row 3)", fixed = TRUE)
  expect_no_match(conditionMessage(warning), "later|blurred|migraine|271828|314159")
  cohort <- cohort[1:2, ]
  expect_identical(adni_lines(cohort), c("271828 0 no_mri cdr_questionable_mri_none",
                                         "314159 0 no_mri cdr_normal_mri_none"))
  expect_identical(as.character(cohort$diagnosis), c("normal", "missing"))
})

test_that("visits that name no month are known, and other words are not", {
  expect_identical(unreadable_months(c("bl", "m06", "sc", "scmri", "f", "nv", "uns1", "v02", "", NA)),
                   list(rows = integer(), given = 8L))
  expect_identical(unreadable_months(c("bl", "Month 6", "12", "m06"))$rows, 2:3)
  rows <- adni_rows(adni_row(1, "bl"), adni_row(1, "Month 6"))
  expect_identical(expect_error(read_adni(rows), class = "ibrc_error_data")$columns, "VISCODE")
  rows$RID <- as.POSIXct(c(0.1, 0.4), origin = "1970-01-01")
  expect_error(read_adni(transform(rows, VISCODE = "bl")), "text or numbers", class = "ibrc_error_input")
})
