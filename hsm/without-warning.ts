// An option of Node.js for the processes of a token.

/** Keeps the warning that node:ffi is experimental out of the log: pkcs11/pointers.ts says what it is for, and the version of Node.js is pinned. */
export const withoutWarning = '--disable-warning=ExperimentalWarning';
