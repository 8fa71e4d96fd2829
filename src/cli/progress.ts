/** Milliseconds after which people want to know whether anything happens. */
const patience = 1000
const width = 24

export interface ProgressLine {
  /** `fraction` from 0 to 1 draws a bar; without it, the line is the text alone. */
  show(text: string, fraction?: number): void
  clear(): void
}

/**
 * One line on a terminal that says how far long work is, after the first second. Elsewhere, a new line every `interval` milliseconds, or
 * nothing.
 */
export function openProgress(stream: NodeJS.WriteStream = process.stderr, interval?: number): ProgressLine {
  if (stream.isTTY) return openTerminalLine(stream)
  return interval === undefined ? { show() {}, clear() {} } : openLogLines(stream, interval)
}

/** The last line is repeated as long as nothing new is shown, because a log without lines looks like a program that hangs. */
function openLogLines(stream: NodeJS.WriteStream, interval: number): ProgressLine {
  let line = ''
  let timer: NodeJS.Timeout | undefined
  return {
    show(text, fraction) {
      line = fraction === undefined ? text : `${text} ${Math.floor(Math.min(Math.max(fraction, 0), 1) * 100)}%`
      timer ??= setInterval(() => stream.write(`${line}\n`), interval).unref()
    },
    clear() {
      clearInterval(timer)
      timer = undefined
    },
  }
}

function openTerminalLine(stream: NodeJS.WriteStream): ProgressLine {
  const begun = performance.now()
  let shown = ''
  return {
    show(text, fraction) {
      if (performance.now() - begun < patience) return
      const line = (fraction === undefined ? text : `${drawBar(fraction)} ${text}`).slice(0, stream.columns || 80)
      if (line !== shown) stream.write(`\r\x1b[K${line}`)
      shown = line
    },
    clear() {
      if (shown) stream.write('\r\x1b[K')
      shown = ''
    },
  }
}

function drawBar(fraction: number) {
  const bounded = Math.min(Math.max(fraction, 0), 1)
  const full = Math.floor(bounded * width)
  return `[${'#'.repeat(full)}${' '.repeat(width - full)}] ${String(Math.floor(bounded * 100)).padStart(3)}%`
}
