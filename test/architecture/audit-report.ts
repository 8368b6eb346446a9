// What the answers of `npm audit` mean for a submission.

export type Verdict = { readonly good: boolean; readonly text: string };

type Package = { readonly name: string; readonly version: string; readonly code?: string };
type Signatures = { readonly invalid: readonly Package[]; readonly missing: readonly Package[] };
type Advisories = { readonly vulnerabilities: Readonly<Record<string, { readonly severity: string }>> };

/** `answer`: the output of `npm audit signatures --json`. */
export function judgeSignatures(answer: string): Verdict {
  const { invalid, missing, reason } = read<Signatures>(answer, 'invalid');
  if (invalid === undefined || missing === undefined) return skipped('the signatures of the npm packages', reason);
  if (invalid.length > 0) return { good: false, text: `the registry has not signed what is installed as ${listed(invalid)}` };
  // A mirror may hand on the keys and leave the signatures out.
  if (missing.length > 0)
    return { good: true, text: `SKIPPED: the signatures of ${missing.length} npm packages, which the registry does not have` };
  return { good: true, text: 'the registry has signed every npm package that is installed' };
}

/** `answer`: the output of `npm audit --json`. Advisories are for people: they come without a change here, so they fail nothing. */
export function summarizeAdvisories(answer: string): Verdict {
  const { vulnerabilities, reason } = read<Advisories>(answer, 'vulnerabilities');
  if (vulnerabilities === undefined) return skipped('known vulnerabilities of what is shipped', reason);
  const found = Object.entries(vulnerabilities).map(([name, { severity }]) => `${name} (${severity})`);
  return {
    good: true,
    text: found.length === 0 ? 'no vulnerability of what is shipped is known' : `ADVISORIES for ${found.join(', ')}: npm audit`,
  };
}

function skipped(what: string, reason: string): Verdict {
  return { good: true, text: `SKIPPED: ${what}, because ${reason}` };
}

/** The document, or why there is none. */
function read<T extends object>(answer: string, field: keyof T & string): Partial<T> & { readonly reason: string } {
  try {
    const document = JSON.parse(answer) as Partial<T> & { error?: { summary?: string }; message?: string };
    if (document[field] !== undefined) return { ...document, reason: '' };
    const said = document.error?.summary || document.message || 'it answered something else';
    return { ...({} as Partial<T>), reason: `the registry cannot be asked: ${said.split('\n')[0]}` };
  } catch {
    return { ...({} as Partial<T>), reason: 'the registry cannot be asked' };
  }
}

function listed(packages: readonly Package[]): string {
  return packages.map(({ name, version }) => `${name}@${version}`).join(', ');
}
