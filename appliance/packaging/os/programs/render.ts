// Renders settings as files of the system: network, time, firewall, and the daemon's configuration.
import { isIP } from 'node:net';
import { stringify } from 'yaml';
import type { Settings } from './settings.ts';

/** Files by path, all world-readable. */
export type Rendered = Readonly<Record<string, string>>;

/** The files of the settings. None contains a PIN. */
export function renderSettings(settings: Settings): Rendered {
  return {
    ...renderNetwork(settings),
    ...(settings.ntp.length === 0 ? {} : { '/run/systemd/timesyncd.conf.d/50-settings.conf': `[Time]\nNTP=${settings.ntp.join(' ')}\n` }),
    ...(settings.hostname === undefined ? {} : { '/run/keystored-os/hostname': `${settings.hostname}\n` }),
    '/run/keystored-os/networks.nft': renderNetworks(settings),
    '/run/keystored-os/keystored.yaml': renderDaemon(settings),
    ...renderSharedAddress(settings),
  };
}

/** systemd.network(5). An empty file replaces the image's, which enables DHCP everywhere, so that only named interfaces are up. */
function renderNetwork({ interfaces }: Settings): Rendered {
  if (interfaces === undefined) return {};
  const files = interfaces.map(({ name, mac, dhcp, addresses, gateways, dns }, index) => {
    const lines = [
      '[Match]',
      name === undefined ? `MACAddress=${mac}` : `Name=${name}`,
      '[Network]',
      ...(dhcp ? ['DHCP=yes'] : ['DHCP=no', 'IPv6AcceptRA=no']),
      ...addresses.map((one) => `Address=${one}`),
      ...gateways.map((one) => `Gateway=${one}`),
      ...dns.map((one) => `DNS=${one}`),
      'LLMNR=no',
      'MulticastDNS=no',
      '[DHCPv4]',
      'UseHostname=no',
      '[DHCPv6]',
      'UseHostname=no',
    ];
    return [`/run/systemd/network/10-settings-${index}.network`, `${lines.join('\n')}\n`] as const;
  });
  return { ...Object.fromEntries(files), '/run/systemd/network/80-keystored.network': '' };
}

/**
 * Fills the sets of /etc/nftables.conf; the ports of enrolment protocols and of KMIP are open where the settings have them only, those of etcd in a cluster
 * only, VRRP to the peers of a shared address only. In one transaction: at no moment is more open than before or after.
 */
function renderNetworks({ allow, cluster, enrolment, kmip }: Settings): string {
  const { management, est } = allow;
  const open = {
    ...{ management, est },
    enrolment: enrolment === undefined ? [] : allow.enrolment,
    plain: enrolment?.plain === true ? allow.enrolment : [],
    kmip: kmip === undefined ? [] : allow.kmip,
    cluster: cluster === undefined ? [] : allow.cluster,
    peers: cluster?.sharedAddress?.peers ?? [],
  };
  const sets = Object.entries(open).flatMap(([port, networks]) =>
    ([4, 6] as const).map((family) => {
      const members = networks.filter((network) => isIP(network.split('/')[0] ?? '') === family);
      const set = `inet keystored ${port}${family}`;
      return `flush set ${set}\n${members.length === 0 ? '' : `add element ${set} { ${members.join(', ')} }\n`}`;
    }),
  );
  return sets.join('');
}

/**
 * keepalived.conf(5), of the unit that starts when it is there. The one that has the address keeps it when another one comes back. The
 * interface is filled in by that unit, because the settings may name it by a pattern or by its hardware address.
 */
function renderSharedAddress({ cluster }: Settings): Rendered {
  if (cluster?.sharedAddress === undefined) return {};
  const { address: own, sharedAddress } = cluster;
  const { address, peers, routerId } = sharedAddress;
  const text = `track_file keystored {
  file "@directory@/fault"
  weight 0
}
vrrp_instance keystored {
  state BACKUP
  nopreempt
  interface @interface@
  virtual_router_id ${routerId}
  priority 100
  advert_int 1
  unicast_src_ip ${own}
  unicast_peer {
    ${peers.filter((peer) => peer !== own).join('\n    ')}
  }
  virtual_ipaddress {
    ${address}
  }
  track_file {
    keystored
  }
}
`;
  return { '/run/keystored-os/keepalived.conf': text };
}

/** keystored.yaml of the daemon. The PIN is the systemd credential keystored.pin. */
function renderDaemon({ hosts, token, start, pin, cluster, enrolment, kmip }: Settings): string {
  return stringify({
    data: '/var/lib/keystored',
    listen: '[::]:4646',
    'est-listen': '[::]:4665',
    'bootstrap-file': '/run/keystored/bootstrap',
    'refusal-file': '/run/keystored/refusal',
    'operations-socket': '/run/keystored-operate.sock',
    ...(enrolment === undefined ? {} : { enrolment: { listen: '[::]:4666', ...(enrolment.plain ? { 'plain-listen': '[::]:4667' } : {}) } }),
    ...(kmip === undefined ? {} : { kmip: { listen: '[::]:5696', ...kmip } }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(cluster === undefined ? {} : { cluster: clusterOf(cluster) }),
    // No sign-in provider runs on the loopback address of an appliance.
    'provider-hosts': { deny: ['127.0.0.0/8', '::1'] },
    hsm: {
      start,
      ...(token === undefined ? {} : { tokens: [tokenOf(token)] }),
      ...(pin === undefined ? {} : { 'embedded-pin': credential }),
    },
  });
}

const credential = { credential: 'keystored.pin' };

function clusterOf({ name, address, invitation }: NonNullable<Settings['cluster']>): Record<string, unknown> {
  const joins = invitation === undefined ? {} : { 'invitation-file': '/run/credentials/keystored.service/keystored.invitation' };
  return { name, member: { address, ...joins } };
}

function tokenOf({ pin: _pin, ...token }: NonNullable<Settings['token']>): Record<string, unknown> {
  return { name: 'default', ...token, pin: credential };
}
