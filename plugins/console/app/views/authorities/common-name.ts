// Name of the holder of a certificate, for people.

/**
 * The common name of a subject, which people know a device by; undefined where it has none, or several. Who asks for a certificate writes
 * them, and must not pass for another device.
 */
export function commonNameOf(subject: string): string | undefined {
  // A comma or plus sign that a value has is escaped (RFC 4514).
  const parts = (subject.match(/(?:\\.|[^,+\\])+/gs) ?? []).map((part) => part.trimStart());
  const [only, ...others] = parts.filter((part) => part.startsWith('CN='));
  const name = only?.slice('CN='.length).replaceAll(/\\(.)/gs, '$1').trim();
  return others.length > 0 || name === '' ? undefined : name;
}
