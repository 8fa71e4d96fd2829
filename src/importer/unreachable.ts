import type { Egress } from '#platform/outbound/egress.ts'

/** Wraps an egress to find out whether any request was answered. If none was, `unreachableReason` is a message for the user. */
export function observeAnswers(egress: Egress, address: string): { egress: Egress; unreachableReason(): string | undefined } {
  let answered = false
  let failure: unknown
  const observed =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      try {
        const answer = await ask(...args)
        answered = true
        return answer
      } catch (error) {
        failure ??= error
        throw error
      }
    }
  const { tunnel, connect, request } = egress
  return {
    egress: { ...egress, tunnel: observed(tunnel), connect: observed(connect), request: observed(request) },
    unreachableReason: () => (answered || failure === undefined ? undefined : describe(failure, new URL(address))),
  }
}

/** Codes of the system and of undici, and names of AbortSignal errors. */
function describe(failure: unknown, { host, hostname }: URL): string {
  const { code, name } = failure as { code?: unknown; name?: string }
  switch (typeof code === 'string' ? code : name) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `There is no host named ${hostname}.`
    case 'ECONNREFUSED':
      return `Nothing listens at ${host}: the connection was refused.`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${host} closed the connection without an answer.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `This server has no route to ${host}.`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `${host} does not speak https.`
    default:
      return `${host} does not answer.`
  }
}
