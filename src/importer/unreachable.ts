import type { Egress } from '#platform/outbound/egress.ts'

/** The same way out, which notices whether anybody at the other end has answered at all; and why nobody did, for a person. */
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

/** The system's words for it, and those of undici and AbortSignal. */
function describe(failure: unknown, { host, hostname }: URL): string {
  const { code, name } = failure as { code?: unknown; name?: string }
  switch (typeof code === 'string' ? code : name) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `No host is known by the name ${hostname}.`
    case 'ECONNREFUSED':
      return `Nothing listens at ${host}: the connection was refused.`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${host} ends the connection without an answer.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `There is no way from this server to ${host}.`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `${host} does not speak https there.`
    default:
      return `${host} does not answer.`
  }
}
