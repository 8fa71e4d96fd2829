import { setTimeout as sleep } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Client, Forge } from './forge.ts'
import type { Guest } from './guest.ts'

/** The stream of a page, with the cookies of a guest. */
export function listenAs({ web }: Forge, { cookies }: Guest, path: string) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return listen({ base: web, headers: { cookie } }, path)
}

/** Follows a stream until it is disposed of. */
export async function listen(client: Pick<Client, 'base' | 'headers'>, path: string, last?: string) {
  const stop = new AbortController()
  const headers = { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) }
  const answer = await fetch(`${client.base}${path}`, { headers: { ...client.headers, ...headers }, signal: stop.signal })
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }))
  })().catch(() => {})
  return {
    answer,
    ended,
    messages,
    /** The data of all messages, once there are so many. */
    async until(count: number) {
      for (let n = 0; n < 6000 && messages.length < count; n++) await sleep(10)
      return messages.map(({ data }) => JSON.parse(data))
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
