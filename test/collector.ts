import { createServer } from 'node:http'
import { openServer } from './webhooks.ts'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: string; arrayValue?: object } }[]
  status: { code?: number }
  /** The name of the service that sent it. */
  service: string
}

/** A receiver of OTLP over HTTP on this machine. `status` is what it answers; 0 for no answer. */
export async function openCollector(status = () => 200) {
  const bodies: string[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.method !== 'POST' || request.url !== '/v1/traces') return response.writeHead(404).end()
    headers.push(request.headers)
    const code = status()
    if (code === 0) return undefined
    if (code === 200) bodies.push(Buffer.concat(chunks).toString())
    return response.writeHead(code, { 'content-type': 'application/json' }).end('{}')
  })
  const { url, ...open } = await openServer(server)
  return {
    ...open,
    url: url.replace(/\/$/, ''),
    bodies,
    headers,
    get spans(): ReceivedSpan[] {
      return bodies.flatMap((body) => JSON.parse(body).resourceSpans.flatMap(spansOf))
    },
  }
}

interface ResourceSpans {
  resource: { attributes: ReceivedSpan['attributes'] }
  scopeSpans: { spans: ReceivedSpan[] }[]
}

function spansOf({ resource, scopeSpans }: ResourceSpans) {
  const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
  return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })))
}
