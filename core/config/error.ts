// A configuration error: one line that names the option or the place in the file, and the fix.

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
