// One received piece of a TCP stream is wrong: bit 0 of the middle byte of piece SPOIL_CALL (from 0) of those of at
// least SPOIL_BYTES that this process reads. For LD_PRELOAD; contains nothing of the suite. SPOIL_SAY: a file that
// gets a line when it was done.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long pieces;

static void spoil(int descriptor, char* data, ssize_t bytes) {
  const char* const which = getenv("SPOIL_CALL");
  const char* const least = getenv("SPOIL_BYTES");
  const char* const process = getenv("SPOIL_PROCESS");  // LOCAL_RANK of the one
  const char* const mine = getenv("LOCAL_RANK");
  if (which == NULL || least == NULL || bytes < atol(least)) return;
  if (process != NULL && (mine == NULL || atoi(mine) != atoi(process))) return;
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getpeername(descriptor, (struct sockaddr*)&address, &length) != 0 || address.ss_family == AF_UNIX) return;
  if (atomic_fetch_add(&pieces, 1) != atol(which)) return;
  data[bytes / 2] ^= 1;
  FILE* const say = fopen(getenv("SPOIL_SAY"), "a");
  if (say == NULL) return;
  fprintf(say, "piece %s, %ld bytes\n", which, (long)bytes);
  fclose(say);
}

ssize_t read(int descriptor, void* data, size_t bytes) {
  static ssize_t (*real)(int, void*, size_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  const ssize_t got = real(descriptor, data, bytes);
  if (got > 0) spoil(descriptor, data, got);
  return got;
}

ssize_t recv(int descriptor, void* data, size_t bytes, int flags) {
  static ssize_t (*real)(int, void*, size_t, int);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t, int))dlsym(RTLD_NEXT, "recv");
  const ssize_t got = real(descriptor, data, bytes, flags);
  if (got > 0 && (flags & MSG_PEEK) == 0) spoil(descriptor, data, got);
  return got;
}
