#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <io.h>
#else
#include <signal.h>
#include <unistd.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "checkpoint.h"
#include "ffi.h"

/* What R's own functions on files leave out: errors of every single write, a flush to the disk, and
 * a replacement that happens completely or not at all. Each entry returns NULL, or in words why the
 * system refused. No R function is called while a file is open, so none stays open. Also questions
 * about a checkpoint's bytes, and about the process that has locked one. */

static SEXP outcome(int error) {
  return error ? Rf_mkString(strerror(error)) : R_NilValue;
}

#ifdef _WIN32

static wchar_t *native_path(SEXP path) {
  const char *text = Rf_translateCharUTF8(STRING_ELT(path, 0));
  int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
  wchar_t *wide = (wchar_t *)R_alloc((size_t)n + 1, sizeof(wchar_t));
  wide[0] = 0;
  MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
  return wide;
}

static int create_file(const wchar_t *path) {
  return _wopen(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
}

static int flush_file(int file) { return _commit(file); }

/* Virus scanners and indexers hold a new file for a moment: ask again before
 * giving up. */
static int replace_file(const wchar_t *from, const wchar_t *to) {
  DWORD kind = GetFileAttributesW(to);
  if (kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_DIRECTORY)) return EISDIR;
  for (int attempt = 0; attempt < 20; attempt++) {
    if (MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 0;
    DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return ENOENT;
    if (error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) return EIO;
    Sleep(10);
  }
  return EACCES;
}

static void flush_folder(const wchar_t *folder) { (void)folder; }

static int is_regular(const wchar_t *path) {
  HANDLE file = CreateFileW(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (file == INVALID_HANDLE_VALUE) return 1;
  BY_HANDLE_FILE_INFORMATION info;
  int regular = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
                !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
  CloseHandle(file);
  return regular;
}

/* A process that may not be asked is running: it belongs to somebody else. */
static int process_runs(int process) {
  HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)process);
  if (!handle) return GetLastError() == ERROR_ACCESS_DENIED;
  DWORD code = 0;
  int runs = GetExitCodeProcess(handle, &code) && code == STILL_ACTIVE;
  CloseHandle(handle);
  return runs;
}

#else

static const char *native_path(SEXP path) { return Rf_translateChar(STRING_ELT(path, 0)); }

static int create_file(const char *path) { return open(path, O_WRONLY | O_CREAT | O_EXCL, 0666); }

static int flush_file(int file) {
#ifdef F_FULLFSYNC
  /* On this system fsync() stops at the drive's own memory. */
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
  int failed;
  do failed = fsync(file);
  while (failed && errno == EINTR);
  /* EINVAL: a file system that has nothing to flush. */
  return failed && errno != EINVAL ? -1 : 0;
}

/* rename() would also replace a device or a pipe, and break it. */
static int replace_file(const char *from, const char *to) {
  struct stat target;
  if (stat(to, &target) == 0 && !S_ISREG(target.st_mode)) return S_ISDIR(target.st_mode) ? EISDIR : EINVAL;
  return rename(from, to) == 0 ? 0 : errno;
}

/* The new name lies in the folder. Not every file system can flush a folder, and the file is whole
 * either way, so a failure is ignored. */
static void flush_folder(const char *folder) {
  int file = open(folder, O_RDONLY);
  if (file < 0) return;
  flush_file(file);
  close(file);
}

static int is_regular(const char *path) {
  struct stat found;
  return stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

/* A process that may not be asked is running: it belongs to somebody else. */
static int process_runs(int process) { return kill((pid_t)process, 0) == 0 || errno == EPERM; }

#endif

/* Systems limit a single write; a full disk may take a part of one. */
static int write_all(int file, const unsigned char *bytes, size_t n) {
  const size_t most = (size_t)1 << 24;
  while (n > 0) {
    int done = (int)write(file, bytes, (unsigned int)(n < most ? n : most));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

static void check_path(SEXP path, const char *name) {
  if (TYPEOF(path) != STRSXP || Rf_xlength(path) != 1 || STRING_ELT(path, 0) == NA_STRING) {
    Rf_error("internal: '%s' is not one path", name);
  }
}

static void check_bytes(SEXP bytes) {
  if (TYPEOF(bytes) != RAWSXP) Rf_error("internal: 'bytes' is not a raw vector");
}

/* A new file, on the disk when this returns; no file of that name may exist. */
SEXP ffi_file_write(SEXP path, SEXP bytes) {
  check_path(path, "path");
  check_bytes(bytes);
  const unsigned char *from = RAW_RO(bytes);
  size_t n = (size_t)Rf_xlength(bytes);
  int file = create_file(native_path(path));
  if (file < 0) return outcome(errno);
  int error = write_all(file, from, n);
  if (!error && flush_file(file)) error = errno;
  if (close(file) && !error) error = errno;
  return outcome(error);
}

/* `from` takes the place of `to`, at once or not at all. */
SEXP ffi_file_replace(SEXP from, SEXP to, SEXP folder) {
  check_path(from, "from");
  check_path(to, "to");
  check_path(folder, "folder");
  int error = replace_file(native_path(from), native_path(to));
  if (!error) flush_folder(native_path(folder));
  return outcome(error);
}

/* Is it a plain file, or nothing yet? Devices, pipes and folders are neither. */
SEXP ffi_file_plain(SEXP path) {
  check_path(path, "path");
  return Rf_ScalarLogical(is_regular(native_path(path)));
}

/* Whether a process of that number runs on this machine. */
SEXP ffi_process_runs(SEXP process) {
  return Rf_ScalarLogical(process_runs(args_size(process, "process")));
}

/* The hash of the first `count` bytes. */
SEXP ffi_file_hash(SEXP bytes, SEXP count) {
  check_bytes(bytes);
  const double n = args_double(count, "count");
  if (!(n >= 0 && n <= (double)Rf_xlength(bytes))) Rf_error("internal: not that many bytes");
  char hash[IBRC_HASH_SIZE + 1];
  ibrc_checkpoint_hash(RAW_RO(bytes), (size_t)n, hash);
  return Rf_mkString(hash);
}

/* What is wrong with a whole file's bytes, or NULL. */
SEXP ffi_file_flaw(SEXP bytes) {
  check_bytes(bytes);
  const char *flaw = ibrc_checkpoint_flaw(RAW_RO(bytes), (size_t)Rf_xlength(bytes));
  return flaw ? Rf_mkString(flaw) : R_NilValue;
}
