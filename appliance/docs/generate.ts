// Writes the generated documents, from tables, schemas and figures: the references of errors and configuration, the dashboard, the tables
// and pictures of performance, the results of the drills (npm run generate docs).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeConfiguration, type DescribedField } from '../../core/config/config.ts';
import { coreErrors, type ErrorTable } from '../../core/base/errors.ts';
import { configurationSections } from '../configuration.ts';
import { dashboardJson } from './dashboard.ts';
import { drillsPage, formatDrills, parseDrills } from './drills.ts';
import { parseFigures } from './performance/figures.ts';
import { fillPage } from './performance/page.ts';
import { drawPictures } from './performance/pictures.ts';
import { plugins } from '../plugins.ts';

/** Every generated file: name below appliance/docs, and text. */
export function generatedDocs(): Readonly<Record<string, string>> {
  return {
    'use/errors.md': errorReference(),
    'administer/configuration.md': configurationReference(),
    'administer/monitoring/dashboard.json': dashboardJson(),
    ...performancePage(),
    ...resultsOfDrills(),
  };
}

/** The page with its tables, and its pictures. The text between the tables is that of the page as it is. */
function performancePage(): Readonly<Record<string, string>> {
  const text = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
  const figures = parseFigures(text('administer/performance/figures.json'));
  const pictures = Object.entries(drawPictures(figures)).map(([name, svg]) => [`administer/performance/${name}.svg`, svg]);
  return { 'administer/performance.md': fillPage(text('administer/performance.md'), figures), ...Object.fromEntries(pictures) };
}

/** The results in their order, and their page. */
function resultsOfDrills(): Readonly<Record<string, string>> {
  const kept = parseDrills(readFileSync(join(import.meta.dirname, 'understand/drills.json'), 'utf8'));
  return { 'understand/drills.json': formatDrills(kept), 'understand/drills.md': drillsPage(kept) };
}

function errorReference(): string {
  const owners: readonly (readonly [string, ErrorTable])[] = [
    ['core', coreErrors],
    ...plugins.map(({ name, errors = {} }) => [name, errors] as const),
  ];
  const rows = owners
    .flatMap(([owner, table]) => Object.entries(table).map(([code, row]) => ({ owner, code, ...row })))
    .toSorted((left, right) => left.status - right.status || (left.code < right.code ? -1 : 1));
  const statuses = [...new Set(rows.map(({ status }) => status))];
  const section = (status: number): string => {
    const lines = rows
      .filter((row) => row.status === status)
      .map(({ code, title, when, detail, owner }) => `| \`${code}\` | ${title} | ${cell(when)} | ${cell(detail)} | ${owner} |`);
    return [`## ${status}`, '', '| Code | Title | When | What to do | From |', '|---|---|---|---|---|', ...lines].join('\n');
  };
  const head = [
    '# Errors',
    '',
    'Every refusal is an RFC 9457 document (`application/problem+json`): `type`, `title`, `status`, `code`, `request-id` and `errors`',
    'with one item for each thing that is wrong; below 500 also `detail`. From 500 up `detail` is absent, and the one item of `errors` says what to',
    'do about it. `code` is the contract: it is never reused and never changes its status. Texts are for people and may change. The request id is in the audit trail and in `system:logs`.',
    '',
    'The EST listener answers in plain text, as devices expect. This file is made by `npm run generate docs` from the tables of core and plugins.',
  ];
  return `${[head.join('\n'), ...statuses.map(section)].join('\n\n')}\n`;
}

function configurationReference(): string {
  const fields = describeConfiguration(configurationSections);
  const lines = fields.map(
    (field) =>
      `| \`${field.path}\` | ${cell(typeNames[field.type] ?? field.type)} | ${standard(field)} | ${cell(field.description)}${spelled(field)} |`,
  );
  const head = [
    '# Configuration',
    '',
    'Every field has a default; an appliance needs no configuration. Options win over environment variables, those over the YAML file that',
    '`--config` names, that over the defaults. A field that does not exist, or a value that is not allowed, stops the start with its line number.',
    '`a/b` is field `b` in container `a`, `[]` stands for the members of a list. Relative paths are relative to the working directory.',
    '',
    'This file is made by `npm run generate docs` from the schemas that check the configuration.',
    '',
    '| Field | Type | Default | Meaning |',
    '|---|---|---|---|',
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}

/** Defaults that differ from machine to machine are said in words. */
function standard({ path, default: value }: DescribedField): string {
  if (path === 'workers') return 'number of cores';
  return value === undefined ? '' : `\`${value}\``;
}

function spelled({ option, environment }: DescribedField): string {
  return option === undefined ? '' : ` (\`${option}\`, \`${environment}\`)`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  array: 'list',
  object: 'map',
};

function cell(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(generatedDocs())) writeFileSync(join(import.meta.dirname, name), text);
}
