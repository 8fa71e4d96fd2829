import type { ExporterOptions } from './otlp-exporter.ts'
import type { Tracer } from './tracer.ts'

/** Without an endpoint, nothing of tracing is loaded. */
export async function openTracer(
  endpoint: URL | null,
  ratio: number,
  options: Omit<ExporterOptions, 'endpoint'>,
): Promise<Tracer | undefined> {
  if (!endpoint) return undefined
  const [{ Tracer }, { OtlpExporter }] = await Promise.all([import('./tracer.ts'), import('./otlp-exporter.ts')])
  return new Tracer(new OtlpExporter({ ...options, endpoint }), ratio)
}
