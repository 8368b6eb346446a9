// The rules of the npm packages, as functions of the lock file, the manifest and the documents, so that a test can show each of them a
// planted violation.
import type { LockedPackage, LockedPackages } from '../../appliance/packaging/npm-packages.ts';

export type Dependencies = {
  readonly locked: LockedPackages;
  readonly manifest: {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
    /** which packages may run programs while they are installed */
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  /** paths of the packages that are in an artefact, as far as they are installed here */
  readonly shipped: ReadonlySet<string>;
  /** the README, which says of each package what it is for */
  readonly readme: string;
  /** the page that says of each package why it, and who keeps it */
  readonly reasons: string;
  /** the page on the supply chain, with a row for each package that has an install script */
  readonly page: string;
};

/** One rule: its name, and what breaks it, a line each. */
export type DependencyRule = { readonly name: string; readonly violations: (dependencies: Dependencies) => readonly string[] };

/** Licences that ask for nothing but that they are named. */
export const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0', 'Unlicense'];

/** Packages that are shipped under other licences, each with why it may be. */
const shippedUnder: ReadonlyMap<string, string> = new Map([
  // A package of its own beside the bundles, unchanged, which everybody can replace.
  ['node_modules/openpgp', 'LGPL-3.0+'],
]);

/** Licences of tools: they reach files of the tool itself, but nothing that is built with it. */
const forDevelopment = [...permissive, 'MPL-2.0', 'CC0-1.0', 'CC-BY-4.0', 'Python-2.0'];

export const dependencyRules: readonly DependencyRule[] = [
  {
    name: 'a package with an install script is allowed to run it or denied, in package.json and in the documentation, and no other is',
    violations({ locked, manifest: { allowScripts }, page }) {
      const scripted = namesOf(locked, ({ hasInstallScript }) => hasInstallScript === true);
      const decided = Object.keys(allowScripts);
      const rows = new Map([...page.matchAll(/^\| `([^`]+)` \| (yes|no) \|/gm)].map(([, name = '', may]) => [name, may === 'yes']));
      return [
        ...scripted.filter((name) => !decided.includes(name)).map((name) => `${name} has an install script that nobody has looked at`),
        ...decided.filter((name) => !scripted.includes(name)).map((name) => `${name} has no install script`),
        ...decided.filter((name) => rows.get(name) !== allowScripts[name]).map((name) => `the page says something else of ${name}`),
        ...[...rows.keys()].filter((name) => !decided.includes(name)).map((name) => `the page has ${name}`),
      ];
    },
  },
  {
    name: 'what is shipped has a licence that asks for nothing but to be named, or is listed',
    violations: ({ locked, shipped }) =>
      unlicensed(locked, ([path, { license }]) => shipped.has(path) && shippedUnder.get(path) !== license, permissive),
  },
  {
    name: 'tools of development have a licence that does not reach what they make',
    violations: ({ locked }) => unlicensed(locked, ([path, { license }]) => shippedUnder.get(path) !== license, forDevelopment),
  },
  {
    name: 'every package for machines of the appliance is pinned by its SHA-512, and comes from a registry',
    violations: ({ locked }) =>
      [...locked].flatMap(([path, { integrity = '', resolved, link, inBundle, ...entry }]) => [
        // What is inside of another package has the sum of that.
        ...(isElsewhere(entry) || inBundle === true || /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? [] : [`${path} has no SHA-512`]),
        ...(link === true || (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'))
          ? [`${path} is elsewhere`]
          : []),
      ]),
  },
  {
    // Not all registries carry them, and what npm does not find it leaves out of the file: then npm ci refuses it on every machine.
    name: 'the lock file names the optional packages of all platforms',
    violations: ({ locked }) =>
      [...locked.values()].flatMap(({ optionalDependencies = {} }) =>
        Object.keys(optionalDependencies).filter((name) => !locked.has(`node_modules/${name}`)),
      ),
  },
  {
    name: 'package.json names one version of each package',
    violations: ({ manifest }) =>
      Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
        .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${name} ${version}`),
  },
  {
    name: 'the README says what each package is for, and dependencies.md why it is used',
    violations: ({ manifest, readme, reasons }) =>
      Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
        .filter((name) => !name.startsWith('@types/'))
        .flatMap((name) =>
          Object.entries({ 'README.md': readme, 'dependencies.md': reasons }).flatMap(([page, text]) =>
            text.toLowerCase().includes(name.toLowerCase()) ? [] : [`${page} does not name ${name}`],
          ),
        ),
  },
];

/**
 * Whether a licence is one of the list: an SPDX expression with either OR or AND. Others (nested, with exceptions, texts such as `SEE
 * LICENSE IN`) are not, so that somebody looks at them.
 */
export function isLicensedUnder(expression: string | undefined, allowed: readonly string[]): boolean {
  if (expression === undefined) return false;
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  const choices = plain.split(' OR ');
  if (choices.length > 1) return choices.some((one) => allowed.includes(one));
  return plain.split(' AND ').every((one) => allowed.includes(one));
}

function unlicensed(
  locked: LockedPackages,
  isAsked: (entry: readonly [path: string, LockedPackage]) => boolean,
  allowed: readonly string[],
): readonly string[] {
  const wrong = [...locked].filter((entry) => isAsked(entry) && !isLicensedUnder(entry[1].license, allowed));
  return wrong.map(([path, { license }]) => `${path}: ${license ?? 'no licence'}`);
}

/** Whether it is installed on no machine that the appliance runs on: Linux on x64 and arm64 with glibc. */
function isElsewhere({ optional, os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockedPackage): boolean {
  const isHere = os.includes('linux') && cpu.some((one) => ['x64', 'arm64'].includes(one)) && libc.includes('glibc');
  return optional === true && !isHere;
}

function namesOf(locked: LockedPackages, is: (entry: LockedPackage) => boolean): readonly string[] {
  const names = [...locked].filter(([, entry]) => is(entry)).map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13));
  return [...new Set(names)];
}
