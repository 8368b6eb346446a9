// The identity that a platform signs for its workloads, as credentials: read again for every login, because platforms replace it.

/** A JWT role, and where the token of the platform comes from. */
export type Workload = {
  readonly tenant: string;
  readonly role: string;
  /** name of the JWT issuer, where several with the same `iss` have a role of this name */
  readonly issuer?: string | undefined;
  /** Returns a token of the platform, for one login: `jwtFromFile`, `jwtFromEnvironment`, or a function that asks the platform for one. */
  readonly jwt: () => string | Promise<string>;
};

/** Reads the token from a file that the platform keeps fresh: a projected volume of Kubernetes, an SVID of a SPIFFE helper. Only in Node.js. */
export function jwtFromFile(path: string): () => Promise<string> {
  return async () => {
    const { readFile } = await import('node:fs/promises');
    return found(await readFile(path, 'utf8'), `the file ${path}`);
  };
}

/** Reads the token from a variable of the environment, as GitLab gives it to a job. Only in Node.js. */
export function jwtFromEnvironment(variable = 'KEYSTORED_JWT'): () => string {
  return () => found(process.env[variable] ?? '', `the variable ${variable} of the environment`);
}

/** The body of a login. Rejects with an Error when there is no token, or as the function of the program does. */
export async function loginOf({ tenant, role, issuer, jwt }: Workload): Promise<Readonly<Record<string, string>>> {
  return { tenant, role, ...(issuer === undefined ? {} : { issuer }), jwt: await jwt() };
}

function found(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw new Error(`${where} holds no token of the platform`);
  return token;
}
