import type { Logger } from '#platform/log.ts'
import { openAgent, trusting } from '#platform/outbound/agent.ts'
import { checkedLookup } from '#platform/outbound/checked-lookup.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import type { SendText } from './two-factor.ts'

/** Milliseconds for the whole request, because the user waits for the sign-in page. */
const timeout = 10_000

/** The operator sets the endpoint, so it may be on a private network or on this machine. */
const policy = readPolicy('external, private, loopback')

/** Sends text messages as set by `BELFRY_SMS_URL`; null if it is not set. */
export function openTextSender(target: 'log' | URL | null, certificates: string | null, log: Logger): SendText {
  if (target === null) return null
  if (target === 'log') {
    return async (to, text) => log.info({ to, text }, 'text message (BELFRY_SMS_URL is "log")')
  }
  return async (to, text) => {
    try {
      await post(target, certificates, JSON.stringify({ to, text }))
    } catch (error) {
      // Neither the number nor the code belongs in the log.
      log.error({ reason: (error as Error).message }, 'a text message could not be sent; see BELFRY_SMS_URL')
      throw error
    }
  }
}

async function post({ protocol, origin, pathname, search, username, password }: URL, certificates: string | null, body: string) {
  const trust = protocol === 'https:' ? { secureContext: trusting(certificates) } : {}
  const agent = await openAgent(policy, checkedLookup(policy), trust)
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = username || password ? { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } : {}
  try {
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body,
      signal: AbortSignal.timeout(timeout),
    })
    await answer.body.dump({ limit: 64 * 1024 })
    if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`the endpoint answered ${answer.statusCode}`)
  } finally {
    await agent.destroy()
  }
}
