// A machine that boots the appliance: QEMU, without acceleration unless asked, so that it behaves the same everywhere, and slowly.
import { spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { inTools, runTool } from '../../appliance/packaging/image/tools.ts';
import { type Answer, ask } from '../harness/client.ts';
import { freePort } from '../harness/daemon.ts';

/** Boots take from one minute to ten on a busy machine; what is slower than this has stopped. */
const patienceMs = 1_500_000;
const firmware = '/usr/share/OVMF';
/** Asked for, not found out: there are hosts whose /dev/kvm takes every call and whose guests then stop in their firmware. */
const acceleration = process.env['KEYSTORED_TEST_ACCELERATION'] ?? 'tcg,thread=multi,tb-size=512';

export type MachineOptions = {
  /** of its own: disk, firmware variables, console */
  readonly directory: string;
  /** disk image that the disk starts as; it is not changed */
  readonly image: string;
  /** NVMe disk that the image is written to, network card and USB of a real machine, instead of those of a virtual one */
  readonly real?: boolean;
  /** Secure Boot, ready to take the keys of the image, and a TPM */
  readonly secure?: boolean;
  /** further arguments of QEMU */
  readonly more?: readonly string[];
};

/** What a machine is started with that media will be plugged in to: a slot for each of them. */
export const mediumSlots = [1, 2, 3, 4, 5].flatMap((n) => ['-device', `pcie-root-port,id=medium-${n}-slot,chassis=${n},slot=${n}`]);

/** The line of the console with what nobody may see again. */
export const shownSecret = /^ {2}secret-id +(\S+)$/;

const running = new Set<ChildProcess>();

/** One start of a machine, from switching it on to switching it off. Its disk, TPM and firmware variables stay for the next. */
export class Machine {
  readonly #directory: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly port: number;
  readonly estPort: number;
  /** set once the CA is known */
  caPem = '';
  #shownBefore = 0;
  #media = 0;

  private constructor(directory: string, child: ChildProcess, port: number, estPort: number) {
    this.#directory = directory;
    this.#child = child;
    this.#ended = new Promise((done) => child.once('exit', () => done()));
    this.port = port;
    this.estPort = estPort;
  }

  static async start({ directory, image, real = false, secure = false, more = [] }: MachineOptions): Promise<Machine> {
    const disk = join(directory, real ? 'written.raw' : 'disk.qcow2');
    const variables = join(directory, 'firmware.fd');
    if (!existsSync(disk)) {
      if (real) runTool('sh', ['-ec', 'dd if="$1" of="$2" bs=4M conv=sparse status=none; truncate -s 6G "$2"', 'sh', image, disk]);
      else runTool('qemu-img', ['create', '-q', '-b', image, '-F', 'raw', '-f', 'qcow2', disk, '6G']);
      runTool('cp', [`${firmware}/OVMF_VARS_4M.fd`, variables]);
    }
    const [port, estPort] = [await freePort(), await freePort()];
    writeFileSync(join(directory, 'console'), '');
    const args = [
      ...['-machine', secure ? 'q35,smm=on' : 'q35', '-accel', acceleration, '-cpu', 'max', '-m', '1024', '-smp', '2'],
      ...['-nodefaults', '-display', 'none', '-serial', `file:${join(directory, 'console')}`],
      ...['-uuid', '4dfa0b5e-6e3c-4c5e-9c3b-1d1f0a5a7c11', '-qmp', `unix:${join(directory, 'qmp')},server=on,wait=off`],
      ...['-drive', `if=pflash,format=raw,readonly=on,file=${firmware}/OVMF_CODE_4M${secure ? '.secboot' : ''}.fd`],
      ...['-drive', `if=pflash,format=raw,file=${variables}`, '-device', 'virtio-rng-pci'],
      ...['-drive', `file=${disk},format=${real ? 'raw' : 'qcow2'},if=none,id=disk`],
      ...['-device', real ? 'nvme,serial=1,drive=disk,bootindex=1' : 'virtio-blk-pci,drive=disk,bootindex=1'],
      ...['-netdev', `user,id=net,restrict=on,${forward(port, 4646)},${forward(estPort, 4665)}`],
      ...['-device', `${real ? 'e1000e' : 'virtio-net-pci'},netdev=net`],
      ...(secure ? await startTpm(directory) : []),
      ...more,
    ];
    const monitor = join(directory, 'qmp');
    rmSync(monitor, { force: true });
    const child = spawn(...inTools('qemu-system-x86_64', args, [directory]), { stdio: ['ignore', 'ignore', 'inherit'] });
    running.add(child);
    child.once('exit', () => running.delete(child));
    while (!existsSync(monitor) && child.exitCode === null) await setTimeout(50);
    return new Machine(directory, child, port, estPort);
  }

  /** What a failed test has left behind. */
  static endAll(): void {
    for (const child of running) child.kill('SIGKILL');
  }

  /** What the serial line has shown since this start, or since it was forgotten, without control sequences. */
  console(): string {
    return this.#serialLine().slice(this.#shownBefore);
  }

  /** What was shown until now is of no interest any more. */
  forgetConsole(): void {
    this.#shownBefore = this.#serialLine().length;
  }

  /** Waits until the serial line has shown `pattern`, and answers the last match. */
  async shown(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#until(`the console shows ${pattern}`, () => [...this.console().matchAll(new RegExp(pattern, 'gm'))].at(-1));
  }

  /** Waits until the appliance serves, and is trusted. */
  async serves(): Promise<this> {
    await this.trustShownCa();
    await this.#until('the appliance is healthy', async () => {
      const { status } = await this.exchange('GET', '/v1/state/system/health', undefined, '');
      return status === 200 || undefined;
    });
    return this;
  }

  /** Takes its CA certificate over a connection nobody vouches for: it has to have the fingerprint that the console shows. */
  async trustShownCa(): Promise<void> {
    const [, fingerprint] = await this.shown(/^CA SHA-256 +([0-9A-F]{2}(?::[0-9A-F]{2}){31})$/);
    const pem = await this.#until('the API answers', () => this.#fetchCa());
    expect(new X509Certificate(pem).fingerprint256).toBe(fingerprint);
    this.caPem = pem;
  }

  exchange(method: string, path: string, body?: unknown, token = ''): Promise<Answer> {
    return ask(`https://127.0.0.1:${this.port}`, path, { method, body, token, ca: this.caPem });
  }

  /** The same, for what has to succeed; comes again when the token of a very busy machine is not there for a moment (503). */
  async ask(method: string, path: string, body?: unknown, token = ''): Promise<Readonly<Record<string, unknown>>> {
    return this.#until(`${method} ${path} is served`, async () => {
      const answer = await this.exchange(method, path, body, token);
      if (answer.status === 503) return undefined;
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body as Record<string, unknown>;
    });
  }

  /** What the console shows for the one login, as it is sent. */
  async credential(): Promise<Readonly<Record<string, string>>> {
    const [, roleId = ''] = await this.shown(/^ {2}role-id +(\S+)$/);
    const [, secretId = ''] = await this.shown(shownSecret);
    return { 'role-id': roleId, 'secret-id': secretId };
  }

  /** Logs in with the credential of the console and answers the root token of `system`, made with it. */
  async claim(): Promise<string> {
    const session = await this.ask('POST', '/v1/approle-login', await this.credential());
    const made = await this.ask('POST', '/v1/state/keystore/token/create-root', { name: 'system' }, String(session['token']));
    return String(made['token']);
  }

  /** Switched off in good order, as by the power button. */
  async powerOff(): Promise<void> {
    await this.#monitor('system_powerdown');
    await this.#ended;
  }

  /** Plugs `file` in as a read-only disk while the machine runs; it has to have been started with `mediumSlots`. */
  async plugIn(file: string): Promise<void> {
    const id = `medium-${++this.#media}`;
    await this.#monitor('blockdev-add', { 'node-name': id, driver: 'raw', 'read-only': true, file: { driver: 'file', filename: file } });
    await this.#monitor('device_add', { driver: 'virtio-blk-pci', bus: `${id}-slot`, id, drive: id });
  }

  /** Takes the last medium out, once the system has let it go. Its slot stays empty: a button pressed twice undoes what it did. */
  async unplug(): Promise<void> {
    const id = `medium-${this.#media}`;
    await this.#monitor('device_del', { id });
    await this.#until('the medium is out', async () => {
      const devices = (await this.#monitor('qom-list', { path: '/machine/peripheral' })) as { name: string }[];
      return devices.every(({ name }) => name !== id) || undefined;
    });
    await this.#monitor('blockdev-del', { 'node-name': id });
  }

  /** Waits until the system has written this much to its disk since the machine was switched on. */
  async written(bytes: number): Promise<void> {
    await this.#until(`${bytes} octets are written`, async () => {
      const disks = (await this.#monitor('query-blockstats')) as { device: string; stats: { wr_bytes: number } }[];
      return disks.some(({ device, stats }) => device === 'disk' && stats.wr_bytes >= bytes) || undefined;
    });
  }

  /** The mains fail: nothing that was not written yet is written any more. */
  async cutPower(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async #monitor(command: string, options: object = {}): Promise<unknown> {
    const { error, return: answer } = await qmp(join(this.#directory, 'qmp'), command, options);
    if (error !== undefined) throw new Error(`${command}: ${error.desc}`);
    return answer;
  }

  #serialLine(): string {
    return stripVTControlCharacters(readFileSync(join(this.#directory, 'console'), 'utf8')).replaceAll('\r', '');
  }

  #fetchCa(): Promise<string | undefined> {
    return new Promise((done) => {
      const options = { host: '127.0.0.1', port: this.port, path: '/v1/ca/system/appliance/ca.pem', rejectUnauthorized: false };
      request({ ...options, agent: false, signal: AbortSignal.timeout(20_000) }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('close', () => done(response.statusCode === 200 && response.complete ? text : undefined));
      })
        .on('error', () => done(undefined))
        .end();
    });
  }

  async #until<T>(what: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline;) {
      const found = await find();
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null) throw new Error(`the machine ended before ${what}:\n${this.console().slice(-4000)}`);
      await setTimeout(1000);
    }
    throw new Error(`waited in vain until ${what}:\n${this.console().slice(-4000)}`);
  }
}

/** Arguments of QEMU that plug in a FAT medium with these settings and the `files` beside them, kept in `file`. */
export function mediumWith(file: string, settings: object, files: readonly string[] = []): string[] {
  const content = `${file}.json`;
  writeFileSync(content, JSON.stringify(settings));
  rmSync(file, { force: true });
  const kibibytes = files.reduce((sum, one) => sum + Math.ceil(statSync(one).size / 1024), 1440);
  runTool('mkfs.vfat', ['-C', '-n', 'KEYSTORED', file, String(kibibytes)]);
  runTool('mcopy', ['-i', file, content, '::/keystored.json']);
  for (const one of files) runTool('mcopy', ['-i', file, one, '::/']);
  return ['-drive', `file=${file},if=none,id=settings,format=raw,readonly=on`, '-device', 'virtio-blk-pci,drive=settings'];
}

function forward(from: number, to: number): string {
  return `hostfwd=tcp:127.0.0.1:${from}-:${to}`;
}

/** A TPM that ends with its machine, and the arguments that plug it in. */
async function startTpm(directory: string): Promise<string[]> {
  const socket = join(directory, 'tpm.sock');
  runTool('mkdir', ['-p', join(directory, 'tpm')]);
  spawn(
    ...inTools('swtpm', ['socket', '--tpm2', '--tpmstate', `dir=${directory}/tpm`, '--ctrl', `type=unixio,path=${socket}`, '--terminate']),
    {
      stdio: 'inherit',
    },
  );
  await expect.poll(() => existsSync(socket), { timeout: 60_000 }).toBe(true);
  const secureVariables = ['-global', 'driver=cfi.pflash01,property=secure,value=on'];
  return [
    ...secureVariables,
    '-chardev',
    `socket,id=tpm,path=${socket}`,
    '-tpmdev',
    'emulator,id=tpm0,chardev=tpm',
    '-device',
    'tpm-crb,tpmdev=tpm0',
  ];
}

/** What QEMU answers: events of the machine, and one of these for each command. */
type MonitorAnswer = { readonly return?: unknown; readonly error?: { readonly class: string; readonly desc: string } };

/** One command of QEMU's own protocol: greeting, capabilities, command. */
function qmp(socket: string, command: string, options: object = {}): Promise<MonitorAnswer> {
  return new Promise((done, fail) => {
    const connection = createConnection(socket, () => {
      for (const request of [{ execute: 'qmp_capabilities' }, { execute: command, arguments: options }])
        connection.write(`${JSON.stringify(request)}\n`);
    });
    let text = '';
    connection.on('error', fail).on('close', () => fail(new Error(`${command}: the machine has ended`)));
    connection.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const complete = text.split('\n').slice(0, -1);
      const [, answer] = complete.map((line) => JSON.parse(line) as MonitorAnswer).filter((line) => 'return' in line || 'error' in line);
      if (answer !== undefined) connection.end(() => done(answer));
    });
  });
}
