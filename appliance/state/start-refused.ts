// The one error that ends a start: a single line for the terminal that names the cause and the fix.

/** Thrown while starting; the message is printed as it is and the process exits with 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}
