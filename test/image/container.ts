// The system of the image in a container of systemd-nspawn: its units, users, firewall and sandboxes, on the kernel of this machine and at its speed.
// Firmware, kernel, disk and encryption are those of an emulated machine only (machine.ts). Needs root.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inTools, runTool } from '../../appliance/packaging/image/tools.ts';
import type { Spaces } from '../cluster/storm/network/spaces.ts';
import { type Answer, ask } from '../harness/client.ts';

const running = new Set<Container>();

export type ContainerOptions = {
  /** of its own: everything below /var, and what it writes elsewhere */
  readonly directory: string;
  /** disk image, of which the root is used */
  readonly image: string;
  /** whose machine `place` it is on the network */
  readonly spaces: Spaces;
  readonly place: number;
  /** what is on its settings medium, and the files beside it; without it the medium was taken out */
  readonly settings?: object;
  readonly files?: readonly string[];
};

/** One start of the system, from switching it on to switching it off. What is below /var stays for the next. */
export class Container {
  readonly #options: ContainerOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(options: ContainerOptions, child: ChildProcess) {
    this.#options = options;
    this.#child = child;
    this.#ended = new Promise((done) => child.once('exit', done));
  }

  static start(options: ContainerOptions): Container {
    const { directory, image, spaces, place, settings, files = [] } = options;
    const medium = join(directory, 'medium');
    rmSync(medium, { recursive: true, force: true });
    mkdirSync(medium, { recursive: true });
    if (settings !== undefined) writeFileSync(join(medium, 'keystored.json'), JSON.stringify(settings));
    for (const file of files) cpSync(file, join(medium, basename(file)));
    const [, , , space = ''] = spaces.within(place);
    const words = [directory, image, ...rootIn(image), space, machineId(place), settings === undefined ? '' : medium];
    const child = spawn(...inTools('sh', ['-euc', boot, 'sh', ...words], ['/run/netns']), {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const started = new Container(options, child);
    running.add(started);
    child.once('exit', () => running.delete(started));
    return started;
  }

  /** What a failed test has left behind. */
  static async endAll(): Promise<void> {
    await Promise.all([...running].map((one) => one.kill()));
  }

  /** Its address on the network. */
  get address(): string {
    return this.#options.spaces.address(this.#options.place);
  }

  /** What the daemon has, as its own system sees it at /var/lib/keystored. */
  get data(): string {
    return join(this.#options.directory, 'var/lib/keystored');
  }

  exchange(method: string, path: string, body?: unknown, token = ''): Promise<Answer> {
    return ask(`https://${this.address}:4646`, path, { method, body, token, ca: readFileSync(join(this.data, 'tls/ca.pem'), 'utf8') });
  }

  /** A file in the memory of the running system, such as the credential of its screen. */
  inMemory(file: string): string {
    return readFileSync(join(`/proc/${this.#init()}/root/run`, file), 'utf8');
  }

  /** Runs a command of the system in it. */
  inside(...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('nsenter', ['--target', this.#init(), '--all', ...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** What all its starts have written. */
  journal(): string {
    const directory = join(this.#options.directory, 'var/log/journal');
    return runTool('journalctl', ['--directory', directory, '--quiet', '--no-pager', '--output=short-iso-precise']);
  }

  /** Whether it has this address now. */
  has(address: string): boolean {
    return this.#network('addr', 'show').includes(` ${address}/`);
  }

  /** Switched off in good order. */
  async powerOff(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  /** All processes end at once, and the machine is gone from the network. What they have written, synced or not, is there: no disk has lost power. */
  async kill(): Promise<void> {
    // With its first process all others end; systemd-nspawn, killed, would leave them behind.
    const init = this.#findInit();
    if (init === undefined) this.#child.kill('SIGKILL');
    else process.kill(Number(init), 'SIGKILL');
    await this.#ended;
    for (const words of ['link set eth0 down', 'addr flush dev eth0']) this.#network(...words.split(' '));
  }

  #init(): string {
    const init = this.#findInit();
    if (init === undefined) throw new Error(`${this.address} does not run`);
    return init;
  }

  /** The first process of the system, by its id on this machine. */
  #findInit(): string | undefined {
    const { pid } = this.#child;
    return /^\d+/.exec(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))?.[0];
  }

  #network(...words: readonly string[]): string {
    const { spaces, place } = this.#options;
    const [command = '', ...before] = spaces.within(place);
    return spawnSync(command, [...before, 'ip', ...words], { encoding: 'utf8' }).stdout;
  }
}

/** As the hypervisor of a machine gives it. */
function machineId(place: number): string {
  return `4dfa0b5e6e3c4c5e9c3b1d1f0a5a7c${place.toString(16).padStart(2, '0')}`;
}

/** Where the root is on the disk, and how long it is, in octets. */
function rootIn(image: string): [offset: string, bytes: string] {
  type Table = { readonly partitiontable: { readonly partitions: readonly { name: string; start: number; size: number; type: string }[] } };
  const { partitiontable } = JSON.parse(runTool('sfdisk', ['--json', image])) as Table;
  const root = partitiontable.partitions.find(({ type }) => type === rootType);
  if (root === undefined) throw new Error(`${image} has no root`);
  return [String(root.start * 512), String(root.size * 512)];
}

/** Root of x86-64, as the Discoverable Partitions Specification has it. */
const rootType = '4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709';

/**
 * In the tree of tools, and in its own mount name space. The root is read-only there, as on the appliance; only the id that firmware would give is laid
 * over it. One hierarchy of control groups, whatever this machine has.
 */
const boot = `
directory=$1 image=$2 offset=$3 bytes=$4 space=$5 id=$6 medium=$7
umount --recursive --lazy /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$space"
echo $$ >"/sys/fs/cgroup/$space/cgroup.procs"
cd "$directory"
mkdir -p lower upper/etc work root var
mount -t erofs -o "ro,loop,offset=$offset,sizelimit=$bytes" "$image" lower
echo "$id" >upper/etc/machine-id
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay root
# It has to be another one than that of the container.
echo 00000000000000000000000000000001 >host-id
touch /etc/machine-id
mount --bind host-id /etc/machine-id
set -- --bind="$directory/var:/var" --network-namespace-path="/run/netns/$space" --capability=CAP_NET_ADMIN,CAP_NET_RAW
[ -z "$medium" ] || set -- "$@" --bind-ro="$medium:/run/keystored-medium"
exec systemd-nspawn --quiet --boot --read-only --directory="$directory/root" --machine="$space" --uuid="$id" "$@" \\
  --register=no --keep-unit --link-journal=no --timezone=off --console=pipe`;
