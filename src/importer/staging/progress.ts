/** The range of each of git's progress lines, in percent of the whole. */
export type Stages = Record<string, readonly [from: number, to: number]>

/** Reads the progress from git's output. Reports whole numbers that only grow. */
export function measure(stages: Stages, onProgress: (percent: number) => void): (text: string) => void {
  let rest = ''
  let last = -1
  return (text) => {
    const lines = (rest + text).split(/[\r\n]/)
    // A server can send lines of any length.
    rest = lines.pop()?.slice(0, 1000) ?? ''
    for (const line of lines) {
      const [, what = '', percent] = /^(?:remote: )?([A-Z][a-z]+ [a-z]+): +(\d+)% \(\d+\/\d+\)/.exec(line) ?? []
      const stage = stages[what]
      if (!stage) continue
      const now = Math.floor(stage[0] + ((stage[1] - stage[0]) * Math.min(Number(percent), 100)) / 100)
      if (now > last) onProgress(now)
      last = Math.max(last, now)
    }
  }
}
