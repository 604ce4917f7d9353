// stdin, stdout and stderr, which need not be there.
#pragma once

namespace ccl_tests {

// Where the process was started with one of them closed, the next file that it opens, a -J file or
// a socket, would take the number and be written to. Called first: what is closed becomes
// /dev/null, in such a way that writing to stdout fails.
void reserve_standard_files();

// Throws Error when something that was printed could not be written.
void require_printed();

}  // namespace ccl_tests
