import { type RunningBelfry, startBare } from './belfry.ts'
import { measure, readAnswer } from './load.ts'
import { judge, median, note, write } from './report.ts'

const connections = 32
const seconds = Number(process.env.BENCH_SECONDS ?? 2)
const rounds = 5

/** One thing measured: a request, and the share of the bare server's speed that it must reach. */
export interface Case {
  name: string
  path: string
  /** Asks with what the last answer said of itself. */
  conditional?: 'etag' | 'date'
  /** As the site admin, by token. */
  token?: true
  /** As someone who is signed in to the site. */
  cookie?: string
  target?: number
}

export const rawRequest = (belfry: RunningBelfry, path: string, { token = false, cookie = '', method = 'GET' } = {}) =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${belfry.port}\r\nAccept: */*\r\n${
    token ? `Authorization: Bearer ${belfry.token}\r\n` : ''
  }${cookie && `Cookie: ${cookie}\r\n`}${method === 'GET' ? '' : 'Content-Length: 0\r\n'}`

/** Belfry and a bare node:http that sends the same bytes, in turn. */
export async function compareRequests(belfry: RunningBelfry, cases: Case[]) {
  write(`\n${connections} connections, ${rounds} rounds of ${seconds} s each, Belfry and a bare node:http in turn\n`)
  write('| request | Belfry/s | bare node:http/s | ratio | target |\n|---|---:|---:|---:|---:|')
  for (const { name, path, conditional, token = false, cookie = '', target } of cases) {
    const plain = rawRequest(belfry, path, { token, cookie })
    const request = `${plain}${conditional ? await condition(belfry, plain, conditional) : ''}\r\n`
    using bare = await startBare(await readAnswer(belfry.port, request))
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < rounds; round++) {
      theirs.push(await measure({ port: bare.port, request, connections, seconds }))
      ours.push(await measure({ port: belfry.port, request, connections, seconds }))
    }
    const ratio = median(ours) / median(theirs)
    note(`${name}: ratio`, ratio)
    const verdict = judge(ratio, target === undefined ? undefined : { least: target })
    write(`| ${name} | ${median(ours).toFixed(0)} | ${median(theirs).toFixed(0)} | ${ratio.toFixed(2)} | ${verdict} |`)
  }
}

async function condition(belfry: RunningBelfry, plain: string, by: 'etag' | 'date') {
  const answer = (await readAnswer(belfry.port, `${plain}\r\n`)).toString('latin1')
  if (by === 'etag') return `If-None-Match: ${/^etag: (.*)$/im.exec(answer)?.[1]?.trim()}\r\n`
  return `If-Modified-Since: ${/^last-modified: (.*)$/im.exec(answer)?.[1]?.trim()}\r\n`
}
