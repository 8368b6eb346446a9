// Makes pkits.json of the folder of PKITS test material that SOURCE.md names: node test/vectors/pkits/make.ts FOLDER
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One test as vectors.json has it. */
type Source = {
  readonly Name: string;
  readonly CertPath: readonly string[];
  readonly ShouldValidate: boolean;
  readonly InitialPolicySet: readonly string[];
  readonly InitialPolicyMappingInhibit: boolean;
  readonly InitialExplicitPolicy: boolean;
  readonly InitialAnyPolicyInhibit: boolean;
};

const [, , folder = '.'] = process.argv;
/** 4.4, 4.14 and 4.15 are about CRLs of other CAs, which the path validator does not read. */
const withoutCrls = /^4\.([1-3]|[5-9]|1[0-3]|16)\./;

const all = JSON.parse(readFileSync(join(folder, 'vectors.json'), 'utf8')) as readonly Source[];
const used = all.filter(
  (test) =>
    withoutCrls.test(test.Name) &&
    // The path validator has no policy inputs: they are those of RFC 5280 6.1.1 by default.
    test.InitialPolicySet.join() === 'anyPolicy' &&
    !test.InitialPolicyMappingInhibit &&
    !test.InitialExplicitPolicy &&
    !test.InitialAnyPolicyInhibit,
);
const cases = used.map((test) => {
  const [, number = '', name = '', subpart] = /^(\S+) (.*?)(?: \(Subpart (\d)\))?$/.exec(test.Name) ?? [];
  const id = subpart === undefined ? number : `${number} subpart ${subpart}`;
  return { id, name, path: test.CertPath.map((file) => file.replace('.crt', '')), valid: test.ShouldValidate };
});
const names = [...new Set(cases.flatMap(({ path }) => path))].toSorted();
const certificates = names.map((name) => [name, readFileSync(join(folder, 'certs', `${name}.crt`)).toString('base64')] as const);

const lines = (rows: readonly string[]): string => rows.map((row) => `    ${row}`).join(',\n');
const text = `{
  "cases": [
${lines(cases.map((one) => JSON.stringify(one)))}
  ],
  "certificates": {
${lines(certificates.map(([name, base64]) => `${JSON.stringify(name)}: ${JSON.stringify(base64)}`))}
  }
}
`;
writeFileSync(new URL('pkits.json', import.meta.url), text);
