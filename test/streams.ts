import { setTimeout as sleep } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Client } from './forge.ts'

/** Follows what happens at an address until it is let go. */
export async function listen(client: Client, path: string, last?: string) {
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
    /** What it has told, once that is so much. */
    async until(count: number) {
      for (let n = 0; n < 1000 && messages.length < count; n++) await sleep(10)
      return messages.map(({ data }) => JSON.parse(data))
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
