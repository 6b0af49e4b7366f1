#pragma once

/// The commit that the program was built from, shortened, with `-changed` if the sources differed; empty if unknown.
const char *commit(void);
