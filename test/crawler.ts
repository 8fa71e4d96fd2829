import type { Guest } from './guest.ts'

export interface BrokenLink {
  path: string
  status: number
  /** The first page that names it. */
  from: string
}

export interface CrawlOptions {
  starts: string[]
  /** How many addresses of one shape are opened: of a thousand commits, a few are enough. */
  most: number
  /** Addresses that are not opened. */
  except?: RegExp
  /** What addresses have in common of which a few are enough. */
  shape?: (url: URL) => string
}

/** An HTML page that answered. */
export interface Crawled {
  path: string
  text: string
}

/** Follows the links of pages, feeds and API bodies of one server, breadth first. */
export async function crawl(guest: Guest, web: string, { starts, most, except, shape: common = shapeOf }: CrawlOptions) {
  const queue = starts.map((path) => ({ path, from: 'the start' }))
  const seen = new Set(starts)
  const shapes = new Map<string, number>()
  const broken: BrokenLink[] = []
  const pages: Crawled[] = []
  let opened = 0
  const follow = (found: string, from: string) => {
    const url = URL.canParse(found, `${web}${from}`) ? new URL(found, `${web}${from}`) : undefined
    if (url?.origin !== web || notFollowed.test(url.pathname)) return
    const path = url.pathname + url.search
    if (seen.has(path) || except?.test(path)) return
    seen.add(path)
    const shape = common(url)
    const count = (shapes.get(shape) ?? 0) + 1
    shapes.set(shape, count)
    if (count <= most) queue.push({ path, from })
  }
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { path, from } = next
      const { status, text, headers, location } = await guest.get(path)
      opened++
      // The API's root names the addresses that public clients expect, also of what is not served.
      if (headers.get('x-belfry-unserved') !== null) continue
      if (status === 404 || status === 410 || status >= 500) broken.push({ path, status, from })
      if (location !== null) follow(location, path)
      if (status === 200 && /html/.test(headers.get('content-type') ?? '')) pages.push({ path, text })
      if (status === 200) for (const link of linksOf(text, headers.get('content-type') ?? '')) follow(link, path)
    }
  }
  // Four at a time, until none of them finds more.
  while (queue.length) await Promise.all(Array.from({ length: 4 }, work))
  return { broken, pages, opened }
}

/** What answers to something else than a GET only, and what is for operators. */
const notFollowed = /^\/(logout|healthz|readyz|metrics)|^\/api\/v3\/repos\/[^/]+\/[^/]+\/merges$/

/** The same for addresses that differ only in names, numbers, commits and values. */
function shapeOf({ pathname, searchParams }: URL) {
  const [first = '', second = '', third = '', ...rest] = pathname.slice(1).split('/')
  const generic = (part: string) => (words.test(part) ? part : ':x')
  // Below these, the second part is a page; elsewhere it is a name.
  const place = pageFolders.has(first)
    ? [first, second && generic(second)]
    : [nameFolders.has(first) ? first : ':owner', second && ':name']
  const names = third === 'repos' ? 2 : 1
  if (first === 'api') return `/api/${third}/${rest.map((part, index) => (index < names ? ':x' : generic(part))).join('/')}`
  const below = fixed.has(third) || pageFolders.has(first) ? rest.map(generic) : rest.slice(0, 1).map(() => ':x')
  const query = [...new Set(searchParams.keys())].sort()
  return `/${[...place, third && generic(third), ...below].filter(Boolean).join('/')}?${query}`
}
const pageFolders = new Set(['settings', 'site-admin', 'notifications', 'search', 'new', 'login', 'docs', 'assets'])
const nameFolders = new Set(['orgs', 'organizations', 'apps'])
/** The parts below these are pages, not paths of files. */
const fixed = new Set(['pull', 'issues', 'settings', 'releases'])
const words = /^[a-z][a-z-]*$/

function linksOf(text: string, type: string): string[] {
  if (/json/.test(type)) return [...text.matchAll(/"\w*url":"(https?:[^"{}]+)"/g)].map(([, url = '']) => url)
  if (!/html|xml/.test(type)) return []
  const forms = [...text.matchAll(/<form\b[^>]*>/g)].map(([form]) => form).filter((form) => !/method="post"/i.test(form))
  const attributes = [
    ...text.replaceAll(/<form\b[^>]*>/g, '').matchAll(/\s(?:href|src)="([^"]*)"/g),
    ...forms.join('').matchAll(/\saction="([^"]*)"/g),
  ]
  return attributes.map(([, link = '']) => decode(link)).filter((link) => link !== '' && !link.startsWith('#'))
}

const decode = (text: string) =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<')
