import type { Check } from './check.ts'
import { authentication } from './checks/authentication.ts'
import './checks/delivery-requests.ts'
import './checks/deliveries.ts'
import './checks/event-limits.ts'
import './checks/event-payloads.ts'
import { events } from './checks/events.ts'
import { feeds } from './checks/feeds.ts'
import './checks/hook-config.ts'
import './checks/import-results.ts'
import { imports } from './checks/imports.ts'
import { notifications } from './checks/notifications.ts'
import { oauth } from './checks/oauth.ts'
import { starring } from './checks/starring.ts'
import './checks/thread-reasons.ts'
import './checks/threads.ts'
import { watching } from './checks/watching.ts'
import './checks/web-flow.ts'
import './checks/web-flow-redirects.ts'
import './checks/web-flow-tokens.ts'
import { webhooks } from './checks/webhooks.ts'

/** All checks in the order of the specification. */
export const checks: Check[] = [
  oauth,
  authentication,
  events,
  feeds,
  notifications,
  starring,
  watching,
  webhooks,
  imports,
].flatMap((part) => part.checks)
