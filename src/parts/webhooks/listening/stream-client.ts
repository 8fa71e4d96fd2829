import { setTimeout as sleep } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type Dispatcher, request } from 'undici'
import { codeOf } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import type { DeliveryMessage } from './json.ts'

/** Longer than the server's ten seconds between keep-alive comments. In milliseconds. */
const silence = 45_000
const firstPause = 1000
const longestPause = 30_000

/**
 * Yields the messages of a webhook's stream. After an interruption it resumes after the last message. Throws StartError if the server
 * refuses, or cannot be reached at the start.
 */
export async function* follow(hook: string, token: string, onOpen: () => void, warn: (text: string) => void) {
  let last = ''
  let pause = 0
  for (;;) {
    try {
      const stream = await open(hook, token, last)
      onOpen()
      pause = firstPause
      for await (const { id, data } of messagesIn(stream)) {
        last = id || last
        yield JSON.parse(data) as DeliveryMessage
      }
      warn('The server has ended the stream.')
    } catch (error) {
      if (error instanceof StartError) throw error
      const why = (error as Error).message || codeOf(error)
      if (!pause) throw new StartError(`${new URL(hook).origin} cannot be reached: ${why}.`)
      warn(`The connection is lost: ${why}.`)
    }
    await sleep(pause)
    pause = Math.min(pause * 2, longestPause)
  }
}

async function open(hook: string, token: string, last: string): Promise<AsyncIterable<Buffer>> {
  const { statusCode, headers, body } = await request(`${hook}/deliveries/stream`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...(last && { 'last-event-id': last }) },
    headersTimeout: silence,
    bodyTimeout: silence,
  })
  if (statusCode === 200 && `${headers['content-type']}`.startsWith('text/event-stream')) return body
  const message = await messageIn(body)
  // A 5xx may be temporary, so the stream is opened again.
  if (statusCode >= 500) throw new Error(`the server responds ${statusCode}${message}`)
  throw new StartError(refusals[statusCode]?.(hook, headers) ?? `The server responds ${statusCode}${message}.`)
}

const refusals: Record<number, (hook: string, headers: Dispatcher.ResponseData['headers']) => string> = {
  200: (hook) => `${hook} is not the address of a webhook: the response is not an event stream.`,
  301: (_, { location }) => `The repository was renamed. Use --hook ${`${location}`.replace(/\/deliveries\/stream$/, '')}.`,
  401: () => 'The server does not accept the token (401). Set BELFRY_TOKEN to a valid token.',
  404: (hook) => `The webhook does not exist, or the token has no access to it (404): ${hook}.`,
}

async function messageIn(body: Dispatcher.ResponseData['body']) {
  const text = await body.text().catch(() => '')
  try {
    return `: ${JSON.parse(text).message}`
  } catch {
    return ''
  }
}

/** The data of one event may be many megabytes long: 25 MB take 0.4 s. */
async function* messagesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder()
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  for await (const chunk of stream) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* messages.splice(0)
  }
}
