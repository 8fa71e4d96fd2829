import { except, linksOf, shapeOf, starts } from '../pages.ts'
import type { MeasuredWorld } from './measured-world.ts'
import { encodeQuery, inAddress, inText, type Target } from './target.ts'

/** They end the session, or what all others need. */
const ends = /\/(?:logout|delete|destroy|transfer|archive|sessions|suspend|rename|password)\b/

interface Form {
  page: string
  method: 'GET' | 'POST'
  action: string
  /** The fields with the values that the page has. */
  fields: [name: string, value: string][]
  /** Fields that people type into. */
  typed: Set<string>
}

/** Every field of every form of every kind of page that ada is led to. */
export async function pageTargets(world: MeasuredWorld, mostPages: number): Promise<Target[]> {
  const waiting = [...starts]
  const shapes = new Set(starts.map(shapeOf))
  const forms = new Map<string, Form>()
  for (let count = 0; count < mostPages && waiting.length; count++) {
    const page = waiting.shift() ?? ''
    const url = `${world.place.web}${page}`
    const { text } = await world.send({ method: 'GET', url, headers: { cookie: world.cookie } })
    for (const form of formsOf(page, text)) forms.set(`${form.method} ${shapeOf(form.action)} ${[...form.typed].join()}`, form)
    for (const link of linksOf(text)) {
      if (except.test(link) || shapes.has(shapeOf(link))) continue
      shapes.add(shapeOf(link))
      waiting.push(link)
    }
  }
  return [...forms.values()].filter(({ action }) => !ends.test(action)).flatMap(targetsOf)
}

const targetsOf = ({ page, method, action, fields, typed }: Form): Target[] =>
  [...typed].map((name) => {
    const made = method === 'GET' ? inAddress : inText(1_000_000)
    return {
      ...made,
      name: `form ${method} ${action} of ${page}: ${name}`,
      send: (text, { place, cookie }) => {
        const url = `${place.web}${action || page}`
        if (method === 'GET')
          return { method, url: `${url.split('?')[0]}?${name}=${encodeQuery(text, 15_000)}`, headers: { cookie } }
        const sent = new URLSearchParams(fields.map(([each, value]) => [each, each === name ? text : value || 'x']))
        if (!sent.has(name)) sent.set(name, text)
        const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
        return { method, url, headers, body: sent.toString() }
      },
    }
  })

function formsOf(page: string, text: string): Form[] {
  return [...text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', inside = '']) => {
    const form = attributesOf(head)
    const inputs = [...inside.matchAll(/<(input|textarea|select)\b([^>]*)>/g)].map(([, tag = '', attributes = '']) => {
      const { name = '', value = '', type = 'text' } = attributesOf(attributes)
      return { tag, name, value, type }
    })
    const named = inputs.filter(({ name }) => name)
    const isTyped = ({ tag, type }: (typeof inputs)[number]) =>
      tag === 'textarea' || (tag === 'input' && !/^(?:checkbox|radio|file|submit|button|image|color|range)$/.test(type))
    return {
      page,
      method: form.method?.toLowerCase() === 'post' ? 'POST' : 'GET',
      action: form.action ?? '',
      fields: named.map(({ name, value }) => [name, value]),
      typed: new Set(named.filter((input) => isTyped(input) && input.name !== 'csrf').map(({ name }) => name)),
    }
  })
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&amp;', '&'),
  ])
  return Object.fromEntries(pairs)
}
