// Modules compiled into etcd, as the program names them itself, with their licences, and Go.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../core/base/defined.ts';
import type { Part } from '../bill/parts.ts';
import { etcdProgram, runGo } from './program.ts';

type GoModule = {
  readonly path: string;
  /** `v3.6.16` */
  readonly version: string;
  /** texts that have to go with it */
  readonly licenses: readonly string[];
};

const server = 'go.etcd.io/etcd/server/v3';

/** `go` is a version without letters. */
export type Etcd = { readonly version: string; readonly go: string; readonly modules: readonly GoModule[]; readonly goLicense: string };

/** Read from the program, which is built when it is not there. Throws for a module without a licence. */
export function describeEtcd(): Etcd {
  const said = runGo('version', '-m', etcdProgram());
  const [, go = ''] = /: go([\d.]+)$/m.exec(said) ?? [];
  const cache = runGo('env', 'GOMODCACHE').trim();
  const modules = Array.from(said.matchAll(/^\tdep\t(\S+)\t(\S+)/gm), ([, path = '', version = '']): GoModule => {
    return { path, version, licenses: textsIn(join(cache, `${escaped(path)}@${escaped(version)}`)) };
  });
  const version = modules.find(({ path }) => path === server)?.version.slice(1);
  if (version === undefined || go === '') throw new Error(`go does not say of which modules ${etcdProgram()} is made:\n${said}`);
  return { version, go, modules, goLicense: textsIn(runGo('env', 'GOROOT').trim()).join('\n') };
}

/** For bills of materials. */
export function etcdParts({ go, modules, goLicense }: Etcd): readonly Part[] {
  const standard: Part = {
    ...{ kind: 'library', name: 'stdlib', version: go, purl: `pkg:golang/stdlib@${go}`, cpe: `cpe:2.3:a:golang:go:${go}:*:*:*:*:*:*:*` },
    ...defined({ license: identify(goLicense) }),
  };
  const parts = modules.map(({ path, version, licenses }): Part => {
    const cpe = path === server ? `cpe:2.3:a:etcd:etcd:${version.slice(1)}:*:*:*:*:*:*:*` : undefined;
    const purl = `pkg:golang/${path.toLowerCase()}@${encodeURIComponent(version)}`;
    return { kind: 'library', name: path, version, purl, ...defined({ license: identify(licenses[0] ?? ''), cpe }) };
  });
  return [standard, ...parts];
}

/** The licences of all, each text once, after the names of those that it is for. */
export function etcdLicenses({ go, modules, goLicense }: Etcd): string {
  const names = new Map<string, string[]>([[goLicense.trim(), [`Go ${go}`]]]);
  for (const { path, version, licenses } of modules) {
    for (const text of licenses) names.set(text.trim(), [...(names.get(text.trim()) ?? []), `${path} ${version}`]);
  }
  const line = '='.repeat(72);
  return Array.from(names, ([text, whose]) => `${line}\n${whose.join('\n')}\n${line}\n\n${text}\n`).join('\n');
}

/** In the cache of Go, capital letters are small ones after an exclamation mark. */
function escaped(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);
}

function textsIn(directory: string): readonly string[] {
  if (!existsSync(directory)) runGo('mod', 'download');
  const names = readdirSync(directory).filter((name) => /^(?:licen[cs]e|copying|notice|patents)(?:\.\w+)?$/i.test(name));
  if (!names.some((name) => /^(?:l|c)/i.test(name))) throw new Error(`${directory} has no licence`);
  // By code units, the licence before the rest: an order of words would depend on the locale.
  return names.sort().map((name) => readFileSync(join(directory, name), 'utf8'));
}

/** SPDX identifier of a text; undefined unless it is one of the licences that etcd's modules have. */
function identify(text: string): string | undefined {
  const plain = text.replace(/\s+/g, ' ');
  if (/Apache License,? Version 2\.0/.test(plain)) return 'Apache-2.0';
  if (plain.includes('Permission is hereby granted, free of charge')) return 'MIT';
  if (!plain.includes('Redistribution and use in source and binary forms')) return undefined;
  return /Neither the names? of|nor the names of/.test(plain) ? 'BSD-3-Clause' : 'BSD-2-Clause';
}
