import type { Belfry } from '#belfry.ts'
import { servesRequests } from '#platform/node-roles.ts'
import { policyFor } from '#platform/outbound/policy.ts'
import { Sender } from './sender.ts'

export function openSender({ db, vault, log, settings, version, addresses, sent_deliveries }: Belfry): Sender {
  return new Sender({
    ...{ db, vault, log, sent_deliveries },
    policy: policyFor(settings.BELFRY_HOST, settings.BELFRY_WEBHOOK_ADDRESSES),
    certificates: settings.BELFRY_CA,
    agent: `Belfry-Hookshot/${version}`,
    timeout: settings.BELFRY_WEBHOOK_TIMEOUT,
    retries: settings.BELFRY_WEBHOOK_RETRIES,
    send_traceparent: settings.BELFRY_WEBHOOK_TRACEPARENT === 'on',
    web: () => addresses.web || elsewhere(settings),
  })
}

/** A node that serves no requests uses the address of the nodes that do. */
function elsewhere({ BELFRY_ROLES, BELFRY_URL, BELFRY_HOST, BELFRY_PORT }: Belfry['settings']) {
  if (servesRequests(BELFRY_ROLES)) return ''
  return BELFRY_URL?.origin ?? `http://${BELFRY_HOST.includes(':') ? `[${BELFRY_HOST}]` : BELFRY_HOST}:${BELFRY_PORT}`
}
