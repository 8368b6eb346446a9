// The TLS identity of both listeners, from the certificate authority that a plugin brings.
import { z } from 'zod';
import { openTenants, systemTenantName } from '../../core/access/tenants.ts';
import type { HealthPart, Job } from '../../core/base/context.ts';
import type { Configuration } from '../../core/config/config.ts';
import type { TlsIdentity } from '../../core/http/listener/listeners.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import {
  type CertificateAuthorities,
  certificateAuthorityService,
  type ListenerIdentity,
  type ListenerKey,
  type ListenerKeyPlace,
} from '../../core/plugin/services/certificate-authority.ts';
import type { OpenStore } from '../../core/store/open.ts';

const checkSeconds = 3_600;

/** Absent in a process that serves nothing. */
type ServingParts = {
  /** Makes the key for a TLS server. */
  readonly load: (key: ListenerKey) => Promise<TlsIdentity['key']>;
  /** Returns the reason for which the key in a token cannot sign; undefined: it can, or is in the store. */
  readonly keyFault: () => string | undefined;
  /** Called with another identity than before, once it is in use. */
  readonly onRenewed: (identity: ListenerIdentity) => void;
};

/** The identity in use, and who wants to know when it changes. It is there once its plugin is started. */
export class ChangingIdentity {
  readonly #store: OpenStore;
  readonly #hosts: readonly string[];
  readonly #place: ListenerKeyPlace;
  readonly #showsRsa: boolean;
  readonly #serving: ServingParts | undefined;
  readonly #watchers = new Set<(identity: TlsIdentity) => void>();
  #authorities: CertificateAuthorities | undefined;
  #current: ListenerIdentity | undefined;
  #tls: TlsIdentity | undefined;

  constructor(store: OpenStore, settings: Pick<Configuration, 'hosts' | 'tlsKey' | 'tlsRsaCertificate'>, serving?: ServingParts) {
    const { hosts, tlsKey, tlsRsaCertificate } = settings;
    this.#store = store;
    this.#hosts = hosts;
    this.#place = tlsKey;
    this.#showsRsa = tlsRsaCertificate;
    this.#serving = serving;
  }

  /**
   * To be started with the plugins of the appliance: it makes or reads the identity, before any plugin opens a listener. As a plugin, so
   * that a start without a certificate authority is refused and names who needs one.
   */
  readonly plugin: AnyPlugin = definePlugin({
    name: 'listener-identity',
    contract: 1,
    config: z.unknown(),
    uses: [certificateAuthorityService],
    provision: async (context) => {
      this.#authorities = context.service(certificateAuthorityService);
      await this.renew();
      return { jobs: [this.renewal], health: () => keyParts(this.#serving?.keyFault()) };
    },
  });

  /** Every process renews its own view of the identity. */
  readonly renewal: Job = {
    name: 'listener-identity',
    everySeconds: checkSeconds,
    isOfEach: true,
    isOfEachProcess: true,
    run: async () => {
      if (await this.renew()) this.#serving?.onRenewed(this.current);
    },
  };

  get current(): ListenerIdentity {
    if (this.#current === undefined) throw new Error('the plugin of the listener identity is not started');
    return this.#current;
  }

  /** For a TLS server. */
  get tls(): TlsIdentity {
    if (this.#tls === undefined) throw new Error('the plugin of the listener identity is not started');
    return this.#tls;
  }

  /** Renews the identity when it is due; answers whether it is another one than before. */
  async renew(): Promise<boolean> {
    const { authorities, system } = this.#made();
    const before = this.#current;
    const next = await authorities.listenerIdentity(system.uuid, this.#hosts, this.#place);
    const rsa = this.#showsRsa && this.#serving !== undefined ? await this.rsa() : undefined;
    const isOther = next.serial !== before?.serial || rsa?.cert !== this.#tls?.rsa?.cert;
    const tls = isOther ? { key: (await this.#serving?.load(next.key)) ?? '', cert: next.chainPem, rsa } : this.tls;
    this.#current = next;
    this.#tls = tls;
    if (isOther) for (const watcher of this.#watchers) watcher(tls);
    return isOther || next.whileSealed.serial !== before?.whileSealed.serial;
  }

  /** The part of an identity for clients that know no ECDSA, as it is now. Its key is in the store. */
  async rsa(): Promise<NonNullable<TlsIdentity['rsa']>> {
    const { authorities, system } = this.#made();
    const { key, chainPem } = await authorities.listenerIdentity(system.uuid, this.#hosts, 'store-rsa');
    return { key: 'pem' in key ? key.pem : '', cert: chainPem };
  }

  #made(): { readonly authorities: CertificateAuthorities; readonly system: { readonly uuid: string } } {
    const system = openTenants(this.#store).findByName(systemTenantName);
    if (system === undefined || this.#authorities === undefined) throw new Error('the tenant system is made before the listeners are');
    return { authorities: this.#authorities, system };
  }

  /** Shows the identity of a sealed appliance, and no other one after it: a key in a token is no longer there. */
  seal(): void {
    const { keyPem, chainPem } = this.current.whileSealed;
    for (const watcher of this.#watchers) watcher({ key: keyPem, cert: chainPem });
    this.#watchers.clear();
  }

  /** Calls back when there is another identity; answers a function that stops this. */
  watch(watcher: (identity: TlsIdentity) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}

/** Told only while it is a problem: by default the key is in the store. */
function keyParts(fault: string | undefined): readonly HealthPart[] {
  if (fault === undefined) return [];
  const reason = `new TLS connections fail, because the token does not sign with the key of the listeners (${fault})`;
  return [{ name: 'listenerKey', state: 'down', reason, hinders: true }];
}
