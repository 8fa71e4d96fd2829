import type { Database } from '#platform/database.ts'
import type { TSchema } from '#platform/schema.ts'
import type { Dialect } from './dialects.ts'
import type { BaseContext, Endpoint, PathRepository } from './endpoint.ts'

/** Renders texts of Markdown as HTML, with absolute links, for the caller of a request. The layers above provide it. */
export type RenderBodies = (context: TextContext, texts: string[]) => Promise<string[]>

type TextContext = BaseContext & { db: Database; repo?: PathRepository }

interface WithBody {
  body?: string | null
  body_html?: string
  body_text?: string
}

/** The forms of a text that a media type asks for: `html`, `text` or `full`. By default, only the text as it was written is sent. */
function formsOf({ media }: Dialect): (keyof WithBody)[] | undefined {
  if (media.has('full')) return ['body', 'body_html', 'body_text']
  if (media.has('html')) return ['body_html']
  return media.has('text') ? ['body_text'] : undefined
}

/** The records of a response that have a text, changed to have the forms that the client accepts. */
export async function inAcceptedForms<T>(endpoint: Endpoint, context: TextContext, result: T, render: RenderBodies): Promise<T> {
  const forms = formsOf(context.dialect)
  if (!forms || !Object.values(endpoint.answers).some(hasText) || typeof result !== 'object' || result === null) return result
  const records = (Array.isArray(result) ? result : [result]) as WithBody[]
  const rendered = await render(
    context,
    records.map(({ body }) => body ?? ''),
  )
  const changed = records.map(({ body, ...record }, index) => {
    const markup = rendered[index] ?? ''
    const all = { body: body ?? null, body_html: markup, body_text: plainText(markup) }
    return { ...record, ...Object.fromEntries(forms.map((form) => [form, all[form]])) }
  })
  return (Array.isArray(result) ? changed : changed[0]) as T
}

/** Whether the schema of a record, or of the records of a list, has the other forms of a text. */
function hasText(schema: TSchema): boolean {
  const { items, properties } = schema as { items?: TSchema; properties?: object }
  return items ? hasText(items) : properties !== undefined && 'body_html' in properties
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const plainText = (markup: string) =>
  markup
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '')
    .trim()
