// The version of keystorectl, for the terminal and the User-Agent.
import manifest from '../../package.json' with { type: 'json' };

/** The version of the source tree that contains this file, or that the bundle was made of. */
export const programVersion = manifest.version;

/** The User-Agent of every request: audit records and the approval of a sign-in name the program by it. */
export const userAgent = `keystorectl/${programVersion}`;
