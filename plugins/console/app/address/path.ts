// Templates of paths and the paths that fit them. Names are encoded one by one; `.` and `..` are not names.

/** The names that a template has in a path, decoded, or undefined where the path is another one. */
export function matchPath(template: string, path: string): readonly string[] | undefined {
  const [wanted, found] = [template.split('/'), path.split('/')];
  if (wanted.length !== found.length) return undefined;
  const names: string[] = [];
  for (const [index, segment] of wanted.entries()) {
    const value = found[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== value) return undefined;
    } else {
      const name = decode(value);
      if (name === undefined) return undefined;
      names.push(name);
    }
  }
  return names;
}

/** The path with its names, in their order. Throws for a name that browsers would take for a step in the path. */
export function fillPath(template: string, names: readonly string[]): string {
  let at = 0;
  return template.replaceAll(/\{[^}]+\}/g, () => {
    const name = names[at++] ?? '';
    if (!isName(name)) throw new RangeError('a name is neither empty nor a step in a path');
    return encodeURIComponent(name);
  });
}

/** The path one level up; of an entry, its list. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** `keystore/transit-keys`: the same in both trees. */
export function withoutTree(path: string): string {
  return path.replace(/^\/v1\/(?:config|state)\//, '');
}

function decode(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return isName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}
