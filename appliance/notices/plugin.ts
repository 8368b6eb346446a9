// The part of the appliance that tells what needs a person: to callers, and by mail and webhook where they are configured.
import { z } from 'zod';
import type { Clock, HealthPart, Log } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { openTenants, systemTenantName } from '../../core/access/tenants.ts';
import type { NoticesConfig } from '../../core/config/notices.ts';
import { openDestinations, ownListenersOf } from '../../core/outbound/destinations.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { appliancesService } from '../../core/plugin/services/appliances.ts';
import { type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { noticeEndpoints, type ReachedChannel } from './endpoints.ts';
import { channelParts, noticeJobs, type NoticesParts } from './notices.ts';
import { noticeTable, withoutSources } from './records.ts';

type Parts = {
  readonly store: OpenStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly notices: NoticesConfig;
  readonly pinOrigin: NoticesParts['pinOrigin'];
  /** of the appliance, as all its workers see them */
  readonly health: () => Promise<readonly HealthPart[]>;
  /** all plugins, once they have started */
  readonly running: () => RunningPlugins;
};

export function noticesPlugin({ store, log, notices, pinOrigin, health, running }: Parts): AnyPlugin {
  return definePlugin({
    name: 'notices',
    contract: 1,
    config: z.unknown(),
    uses: [appliancesService, listenersService],
    provision(context) {
      const { clock } = context;
      const listeners = context.service(listenersService);
      const channels = channelsOf(notices, listeners, clock);
      const parts: NoticesParts = {
        store,
        clock,
        log: log.with('notices'),
        channels,
        publicUrl: () => listeners.managementUrl,
        health,
        pinOrigin,
        appliances: context.service(appliancesService),
        running,
      };
      return {
        endpoints: noticeEndpoints(parts, channels),
        jobs: noticeJobs(parts),
        health: () => channelParts(store, channels),
        dropAppliance(transaction, appliance) {
          const system = openTenants(store).findByName(systemTenantName);
          if (system === undefined) return;
          const records = Array.from(transaction.entries(noticeTable(store), [system.uuid]));
          for (const [key, record] of withoutSources(records, (one) => one === appliance, formatTimestamp(clock.now())))
            transaction.put(noticeTable(store), key, record);
        },
      };
    },
  });
}

/** Loaded when the first message is sent: most appliances send none. */
function channelsOf({ mail, webhook }: NoticesConfig, listeners: Listeners, clock: Clock): readonly ReachedChannel[] {
  const destinations = openDestinations({ allow: [], deny: [] }, ownListenersOf(listeners));
  return [
    ...(mail === undefined
      ? []
      : [
          {
            name: 'mail' as const,
            to: mail.to,
            send: async (message, signal) => (await import('./smtp.ts')).sendMail(mail, message, destinations, signal),
          } satisfies ReachedChannel,
        ]),
    ...(webhook === undefined
      ? []
      : [
          {
            name: 'webhook' as const,
            to: [new URL(webhook.url).host],
            send: async (message, signal) =>
              (await import('./webhook.ts')).postMessage(webhook, message, destinations, signal, clock.now()),
          } satisfies ReachedChannel,
        ]),
  ];
}
