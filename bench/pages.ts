import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { makeFolder, type RunningBelfry, startBelfry } from './belfry.ts'
import { readAnswer } from './load.ts'
import { judge, median, note, write } from './report.ts'
import { compareRequests, rawRequest } from './requests.ts'

const pages = {
  home: '/',
  repository: '/clockwork/tower',
  file: '/clockwork/tower/blob/main/README.md',
  issue: '/clockwork/tower/issues/1',
  inbox: '/notifications',
}
const comments = 500

/** The pages of the demo: speed, weight, first paint, a long conversation, and memory when nothing happens. */
export async function measurePages() {
  using folder = makeFolder()
  {
    await using belfry = await startBelfry(folder.path, {}, ['--demo'])
    await measureDemo(belfry)
    await measureMemory(belfry, 'after this')
  }
  await using fresh = await startBelfry(folder.path)
  await measureMemory(fresh, 'after a start')
}

async function measureDemo(belfry: RunningBelfry) {
  const cookie = await signIn(belfry)
  const rows = Object.entries(pages)
  await compareRequests(belfry, [
    ...rows.slice(0, 4).map(([name, path]) => ({ name: `${name}, signed out`, path, target: 0.2 })),
    ...rows.map(([name, path]) => ({ name: `${name}, signed in`, path, cookie, target: 0.2 })),
  ])
  await weigh(belfry, cookie)
  await paint(belfry, cookie)
  await converse(belfry)
}

const tokenOf = ({ screen }: RunningBelfry) => /^ *ada +(bfp_\w+)$/m.exec(screen)?.[1] ?? ''
const addressOf = ({ port }: RunningBelfry) => `http://127.0.0.1:${port}`

async function signIn({ screen }: RunningBelfry) {
  const link = /^ *ada +(http\S+)$/m.exec(screen)?.[1]
  if (!link) throw new Error('The demo printed no link to sign in.')
  const answer = await fetch(link, { redirect: 'manual' })
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

async function weigh(belfry: RunningBelfry, cookie: string) {
  const bytesOf = async (path: string, encodings: string) => {
    const request = rawRequest(belfry, path, { cookie })
    const answer = await readAnswer(belfry.port, `${request}Accept-Encoding: ${encodings}\r\n\r\n`)
    return answer.length - answer.indexOf('\r\n\r\n') - 4
  }
  write('\n| page with its scripts and styles | KB with gzip | KB as Chromium asks | target |\n|---|---:|---:|---:|')
  for (const [name, path] of Object.entries(pages)) {
    const sizes = await Promise.all(
      ['gzip', 'gzip, deflate, br, zstd'].map(async (encodings) => {
        const parts = [path, '/assets/belfry.js', '/assets/belfry.css', '/assets/belfry.svg']
        const bytes = await Promise.all(parts.map((part) => bytesOf(part, encodings)))
        return bytes.reduce((sum, each) => sum + each, 0) / 1024
      }),
    )
    note(`page with its scripts and styles, ${name}: KB`, sizes[1] ?? 0)
    write(`| ${name} | ${sizes.map((size) => size.toFixed(1)).join(' | ')} | ${judge(sizes[1] ?? 0, { most: 60 })} |`)
  }
}

async function paint(belfry: RunningBelfry, cookie: string) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  })
  write('\n| page | first contentful paint, ms | with a full cache | target |\n|---|---:|---:|---:|')
  for (const [name, path] of Object.entries(pages)) {
    const [first, again] = [[] as number[], [] as number[]]
    for (let round = 0; round < 5; round++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
      const [key = '', value = ''] = cookie.split('=')
      await context.addCookies([{ name: key, value, url: addressOf(belfry) }])
      const page = await context.newPage()
      for (const times of [first, again]) {
        await page.goto(`${addressOf(belfry)}${path}`, { waitUntil: 'load' })
        times.push(await page.evaluate(firstPaint))
      }
      await context.close()
    }
    note(`first contentful paint, ${name}: ms`, median(first))
    write(`| ${name} | ${median(first).toFixed(0)} | ${median(again).toFixed(0)} | ${judge(median(first), { most: 300 })} |`)
  }
  await browser.close()
}

/** Runs in the page, which may be loaded before it is painted. */
function firstPaint() {
  return new Promise<number>((resolve) => {
    const observer = new PerformanceObserver((list) => {
      const paint = list.getEntriesByName('first-contentful-paint')[0]
      if (paint) resolve(paint.startTime)
    })
    observer.observe({ type: 'paint', buffered: true })
  })
}

async function converse(belfry: RunningBelfry) {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${tokenOf(belfry)}`, 'content-type': 'application/json' }
    const answer = await fetch(`${addressOf(belfry)}/api/v3${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { number: number }
  }
  const { number } = await post('/repos/ada/engine/issues', { title: 'A long conversation', body: 'It begins.' })
  for (let n = 0; n < comments; n++) {
    await post(`/repos/ada/engine/issues/${number}/comments`, { body: `Comment **${n}** of \`many\`, see #1.\n\n- one\n- two` })
  }
  const path = `/ada/engine/issues/${number}`
  const times: number[] = []
  for (let n = 0; n < 25; n++) {
    const begun = performance.now()
    // Each address is asked once, so that no cache answers.
    await readAnswer(belfry.port, `${rawRequest(belfry, `${path}?n=${n}`)}\r\n`)
    times.push(performance.now() - begun)
  }
  const time = median(times.slice(5))
  note(`a page of ${comments} comments: ms`, time)
  write(`\nA page of ${comments} comments: ${time.toFixed(0)} ms ${judge(time, { most: 100 })}`)
}

async function measureMemory({ pid }: RunningBelfry, when: string) {
  await new Promise((resolve) => setTimeout(resolve, 30_000))
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  note(`memory 30 s ${when}: MB`, megabytes)
  write(`\nMemory 30 s ${when}: ${megabytes.toFixed(0)} MB ${judge(megabytes, { most: 150 })}`)
}
