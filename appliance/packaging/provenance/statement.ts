// Statement of a build about its artefacts: an in-toto Statement v1 with SLSA provenance v1. The same build makes the same octets: it
// contains no time, and nothing of the machine but its packages.

/** A ResourceDescriptor of in-toto: a file, a package or a source. */
export type Resource = { readonly name?: string; readonly uri?: string; readonly digest?: Readonly<Record<string, string>> };

export type Build = {
  /** the files */
  readonly subjects: readonly Required<Pick<Resource, 'name' | 'digest'>>[];
  /** URI of the builder, which vouches for the build */
  readonly builder: string;
  /** address of the source tree, as pip and SPDX write it (`git+https://…`), if it has one */
  readonly source?: string;
  readonly commit: string;
  /** the words of `npm run build` that make the files */
  readonly builds: readonly string[];
  /** variables that determine the octets beside the tree, such as SOURCE_DATE_EPOCH */
  readonly environment: Readonly<Record<string, string>>;
  /** everything else that went into the build */
  readonly dependencies: readonly Resource[];
};

const statementType = 'https://in-toto.io/Statement/v1';

/** Names our kind of build, which appliance/docs/administer/supply-chain.md describes; it changes when the parameters do. */
export const buildType = 'urn:uuid:9dadaa3b-6f53-4264-9075-b3ffddbe9e06';

/** The text that is signed. Throws for names that are not URIs, and for several files with one name. */
export function formatStatement({ subjects, builder, source, commit, builds, environment, dependencies }: Build): string {
  const notUri = [builder, source].find((uri) => uri !== undefined && !URL.canParse(uri));
  if (notUri !== undefined) throw new Error(`${notUri} is not a URI such as https://ci.example.org/keystored`);
  const names = subjects.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two files are called ${twice}`);
  const tree: Resource = { ...(source === undefined ? {} : { uri: `${source}@${commit}` }), digest: { gitCommit: commit } };
  const statement = {
    _type: statementType,
    subject: sorted(subjects),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { source: tree, builds: [...builds].sort() },
        internalParameters: environment,
        resolvedDependencies: [{ name: 'source', ...tree }, ...sorted(dependencies)],
      },
      runDetails: { builder: { id: builder } },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}

export function isStatement(text: string): boolean {
  try {
    return (JSON.parse(text) as { _type?: unknown } | null)?._type === statementType;
  } catch {
    return false;
  }
}

/** By code units, which are the same in every locale. */
function sorted<T extends Resource>(resources: readonly T[]): readonly T[] {
  const key = ({ uri = '', name = '' }: Resource): string => `${uri} ${name}`;
  return resources.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}
