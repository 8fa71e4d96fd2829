import { Refusal } from '#platform/errors.ts'

/** A file of a form; read it before the next one, or it is skipped. */
export interface UploadedFile {
  /** The name of the form field, and the name that the file has on the visitor's machine. */
  field: string
  name: string
  /** The media type that the browser guessed. */
  type: string
  content: AsyncIterable<Buffer>
}

interface Part {
  field: string
  name: string | undefined
  type: string
  content: AsyncGenerator<Buffer>
}

const longestHead = 8192
/** Of all fields together, in bytes: what other forms may send. */
const longestFields = 1024 * 1024
const mostParts = 200

/**
 * A form of the type `multipart/form-data` (RFC 7578), read while it arrives. The fields are in `form` as soon as they are read; the files are
 * streams.
 */
export class Upload {
  readonly form = new URLSearchParams()
  readonly #source: AsyncIterator<Buffer>
  readonly #delimiter: Buffer
  /** What has arrived and is not yet read. A line break comes before each boundary but the first, so it begins with one. */
  #held = Buffer.from('\r\n')
  #fields = 0
  #parts: AsyncGenerator<Part>

  constructor(source: AsyncIterable<Buffer>, content_type: string) {
    const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(content_type) ?? []
    const boundary = quoted ?? bare
    if (boundary === undefined) throw new Refusal('malformed', 'The form does not name its boundary.')
    this.#source = source[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#parts = this.#read()
  }

  /** Reads the first part if it is a field; a form of ours begins with its CSRF token. */
  async readFirst() {
    const { value: part } = await this.#parts.next()
    if (part?.name === undefined && part) await this.#keep(part)
  }

  /** The files that were chosen, in the order of the form. */
  async *files(): AsyncGenerator<UploadedFile> {
    for await (const { field, name, type, content } of this.#parts) {
      if (name === undefined) await this.#keep({ field, content })
      // A field for a file that was not chosen.
      else if (name !== '') yield { field, name, type, content }
    }
  }

  /** Reads the fields, and skips the files. */
  async readFields() {
    for await (const _ of this.files());
  }

  async #keep({ field, content }: Pick<Part, 'field' | 'content'>) {
    const text = await this.#collect(content, longestFields - this.#fields)
    this.#fields += text.length
    this.form.append(field, text.toString())
  }

  async *#read(): AsyncGenerator<Part> {
    // What comes before the first boundary does not count.
    await this.#collect(this.#until(this.#delimiter), longestHead)
    for (let count = 0; ; count++) {
      if ((await this.#take(2)).toString('latin1') === '--') return
      if (count === mostParts) throw new Refusal('too_large', `A form has at most ${mostParts} fields and files.`)
      // The line break after the boundary is gone, and a part may have no header at all.
      this.#held = Buffer.concat([Buffer.from('\r\n'), this.#held])
      const head = (await this.#collect(this.#until(Buffer.from('\r\n\r\n')), longestHead)).toString()
      const [, disposition = ''] = /\r\ncontent-disposition:([^\r]*)/i.exec(head) ?? []
      let ended = false
      const content = this.#until(this.#delimiter, () => {
        ended = true
      })
      yield {
        field: parameterOf(disposition, 'name') ?? '',
        name: parameterOf(disposition, 'filename'),
        type: /\r\ncontent-type:\s*([^\r]*)/i.exec(head)?.[1]?.trim() ?? '',
        content,
      }
      // The rest of a file that was not read to its end.
      if (!ended) for await (const _ of this.#until(this.#delimiter));
    }
  }

  /** What comes before a mark, which is read and dropped. `found` is called when it is, before the last bytes are read. */
  async *#until(mark: Buffer, found?: () => void): AsyncGenerator<Buffer> {
    for (;;) {
      const end = this.#held.indexOf(mark)
      // The mark may have arrived in part.
      const ready = this.#held.subarray(0, end < 0 ? Math.max(this.#held.length - mark.length + 1, 0) : end)
      this.#held = this.#held.subarray(end < 0 ? ready.length : end + mark.length)
      if (end >= 0) found?.()
      if (ready.length) yield ready
      if (end >= 0) return
      await this.#receive()
    }
  }

  async #take(count: number): Promise<Buffer> {
    while (this.#held.length < count) await this.#receive()
    const taken = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return taken
  }

  async #receive() {
    const { value, done } = await this.#source.next()
    if (done) throw new Refusal('malformed', 'The form ended early. Send it again.')
    this.#held = Buffer.concat([this.#held, value])
  }

  async #collect(chunks: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
    const collected: Buffer[] = []
    let size = 0
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > most) throw new Refusal('too_large', 'The form has too much text.')
      collected.push(chunk)
    }
    return Buffer.concat(collected)
  }
}

/** Browsers send quotes and line breaks in names as percent codes. */
function parameterOf(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(disposition)?.[1]
  return found?.replaceAll('%22', '"').replaceAll(/%0D|%0A/gi, ' ')
}
