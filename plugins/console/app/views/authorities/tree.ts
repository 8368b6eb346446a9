// The hierarchy of certificate authorities from a list of them, in which each names its issuer.

export type Issued = { readonly name: string; readonly 'issuing-ca'?: string };
export type Branch<One> = { readonly authority: One; readonly below: readonly Branch<One>[] };

/** The authorities without an issuer in the list, each with those that it issued. None is lost, whatever names what. */
export function treeOf<One extends Issued>(all: readonly One[]): readonly Branch<One>[] {
  const names = new Set(all.map(({ name }) => name));
  const seen = new Set<string>();
  const branch = (authority: One): Branch<One> => {
    seen.add(authority.name);
    const below = all.filter((one) => one['issuing-ca'] === authority.name);
    return { authority, below: below.flatMap(once) };
  };
  const once = (authority: One): readonly Branch<One>[] => (seen.has(authority.name) ? [] : [branch(authority)]);
  const isTop = ({ 'issuing-ca': issuer }: One): boolean => issuer === undefined || !names.has(issuer);
  const tops = all.filter(isTop).flatMap(once);
  return [...tops, ...all.flatMap(once)];
}
