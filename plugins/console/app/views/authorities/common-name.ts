// Name of the holder of a certificate, for people.

/** The first common name of a subject, which people know a device by. */
export function commonNameOf(subject: string): string | undefined {
  return /(?:^|,\s*|\+\s*)CN=((?:\\.|[^,+\\])+)/.exec(subject)?.[1]?.replaceAll(/\\(.)/g, '$1').trim();
}
