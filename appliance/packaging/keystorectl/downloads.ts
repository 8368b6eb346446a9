// The files that an appliance offers for download: the tarball for every platform, and the single file for its own, without their common
// parts of Node.js.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadIndexName, nodeSource, type Download } from '../../downloads/files.ts';
import { bundleKeystorectl } from './bundle.ts';
import { installedNode, ownPlatform } from '../node-binary.ts';
import { makeSingleFile, singleFileName } from './single-file.ts';
import { makeTarball, tarballName } from './tarball.ts';

/**
 * Fills a directory for GET /v1/keystorectl. The single file is written as its differences to the installed Node.js: 5 MB, not 117.
 * `epochSeconds` is the time of every file.
 */
export async function makeDownloads(directory: string, epochSeconds: number): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await makeTarball(join(directory, tarballName), epochSeconds);
  const files = [describeWhole(directory, tarballName), await describeSingleFile(directory)];
  writeFileSync(join(directory, downloadIndexName), `${JSON.stringify({ files }, undefined, 1)}\n`);
}

function describeWhole(directory: string, name: string): Download {
  const octets = readFileSync(join(directory, name));
  const description = 'For Linux, macOS and Windows with Node.js 22 or newer: unpack it and run keystorectl/keystorectl.';
  return { name, description, ...measure(octets), parts: [{ from: name, at: 0, length: octets.length }] };
}

async function describeSingleFile(directory: string): Promise<Download> {
  const platform = ownPlatform();
  const name = singleFileName(platform);
  const path = join(directory, name);
  makeSingleFile(await bundleKeystorectl({ oneModule: true }), installedNode(), path);
  const octets = readFileSync(path);
  rmSync(path);
  const own = `${name}.own`;
  const { parts, rest } = withoutCommon(octets, readFileSync(installedNode()), own);
  writeFileSync(join(directory, own), rest);
  return { name, description: `One executable file for Linux on ${platform}; nothing else is needed.`, ...measure(octets), parts };
}

function measure(octets: Uint8Array): Pick<Download, 'size' | 'sha256'> {
  return { size: octets.length, sha256: hash('sha256', octets, 'hex') };
}

const pageOctets = 4096;

/**
 * A file as runs of pages that it has in common with Node.js at the same place, and runs of its own, which are put one behind the other.
 */
function withoutCommon(file: Buffer, node: Buffer, ownName: string): { readonly parts: Download['parts']; readonly rest: Buffer } {
  const parts: Download['parts'] = [];
  const own: Buffer[] = [];
  let ownOctets = 0;
  for (let at = 0; at < file.length; at += pageOctets) {
    const page = file.subarray(at, at + pageOctets);
    const isCommon = page.equals(node.subarray(at, at + page.length));
    const [from, place] = isCommon ? [nodeSource, at] : [ownName, ownOctets];
    const before = parts.at(-1);
    if (before?.from === from) before.length += page.length;
    else parts.push({ from, at: place, length: page.length });
    if (isCommon) continue;
    own.push(page);
    ownOctets += page.length;
  }
  return { parts, rest: Buffer.concat(own) };
}
