import { subscribe } from 'node:diagnostics_channel'
import { pino } from 'pino'
import { noDeliveries } from '#belfry.ts'
import { Sender } from '#parts/webhooks/sending/sender.ts'
import { systemClock } from '#platform/clock.ts'
import { Database } from '#platform/database.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { Vault } from '#platform/vault.ts'
import { patient } from '../databases.ts'
import type { Orders } from './crash.ts'

/** The diagnostics channel that is published at each point. */
const channels: Record<Orders['point'], string> = {
  claimed: 'belfry:deliveries:claimed',
  connected: 'undici:client:connected',
  sent: 'undici:request:bodySent',
  answered: 'undici:request:trailers',
  recording: 'belfry:deliveries:recording',
}

/** A process with a sender only. It kills itself when it reaches the point for the n-th time. */
process.once('message', ({ connection, data, web, point, times }: Orders) => {
  let left = times
  subscribe(channels[point], (message) => {
    if (Array.isArray(message) && message.length === 0) return
    if (--left === 0) process.kill(process.pid, 'SIGKILL')
  })
  const log = pino({ level: 'silent' })
  const policy = readPolicy('loopback')
  const db = new Database({ ...connection, max: 4 }, systemClock, patient)
  const vault = new Vault(data)
  new Sender({
    db,
    vault,
    log,
    policy,
    certificates: null,
    agent: 'Belfry-Hookshot/test',
    timeout: 5,
    retries: 0,
    send_traceparent: false,
    sent_deliveries: noDeliveries(),
    web: () => web,
  })
})
process.once('disconnect', () => process.exit())
