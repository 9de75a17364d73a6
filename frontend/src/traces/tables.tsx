import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { PARTS, type KernelRow, type OperatorRow, type StepSlice, type TraceSummary, type Wait } from "../api/traces";
import { count, integer, MISSING, percent, significant } from "../format/numbers";
import { sentence, visible } from "../format/text";
import { time } from "../format/units";
import { Check, Segmented } from "../views/parts";
import type { Desk } from "./desk";
import { Grid, type Column } from "./grid";
import { Short } from "./short";
import { PART_NAMES, perWords, stepName } from "./words";

/** What a trace holds, as tables: operators, kernels, steps and the longest waits. */

type Table = "operators" | "kernels" | "steps" | "waits";

interface Props {
  desk: Desk;
  trace: string;
  summary: TraceSummary;
}

export function Tables({ desk, trace, summary }: Props) {
  const table = useSignal<Table>("operators");
  const { num_operators: operators, num_kernels: kernels, steps, waits } = summary;
  const View = { operators: Operators, kernels: Kernels, steps: Steps, waits: Waits }[table.value];
  const csv = (
    <a href={desk.tableUrl(trace, table.value)} download>
      CSV
    </a>
  );
  return (
    <section class="tables" aria-labelledby="tables-title">
      <h4 id="tables-title">Tables</h4>
      <Segmented<Table>
        label="Table"
        value={table.value}
        onChange={(value) => (table.value = value)}
        options={[
          { value: "operators", text: `Operators (${integer(operators)})` },
          { value: "kernels", text: `Kernels (${integer(kernels)})` },
          { value: "steps", text: `Steps (${integer(steps.length)})` },
          { value: "waits", text: `Longest waits (${integer(waits.length)})` },
        ]}
      />
      <View key={table.value} summary={summary} csv={csv} />
    </section>
  );
}

interface TableProps {
  summary: TraceSummary;
  csv: preact.JSX.Element;
}

/** Divides what is summed over the steps used. */
const divisor = ({ num_steps_used: used }: TraceSummary): number => Math.max(1, used);
const calls = (number: number): string => (Number.isInteger(number) ? integer(number) : significant(number));
const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

/** Rows of one operator, whatever the shapes of its inputs, as one; in the order in which they first come. */
export function withoutShapes(rows: readonly OperatorRow[]): OperatorRow[] {
  const found = new Map<string, OperatorRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.name, row.is_annotation]);
    const sum = found.get(key) ?? { ...row, shapes: null, num_calls: 0, ...NO_TIME };
    for (const number of ["num_calls", ...TIMES] as const) sum[number] += row[number];
    found.set(key, sum);
  }
  return [...found.values()];
}

const TIMES = ["self_host_ms", "total_host_ms", "self_device_ms", "total_device_ms"] as const;
const NO_TIME = { self_host_ms: 0, total_host_ms: 0, self_device_ms: 0, total_device_ms: 0 };

function Operators({ summary, csv }: TableProps) {
  const apart = useSignal(false);
  const { operators: all, device_busy_share: busy, num_operators: listed } = summary;
  const shaped = all.some((row) => row.shapes !== null);
  const merged = useMemo(() => withoutShapes(all), [all]);
  const rows = apart.value ? all : merged;
  const steps = divisor(summary);
  const device = busy !== null;
  const self = (row: OperatorRow) => (device ? row.self_device_ms : row.self_host_ms);
  const whole = all.reduce((sum, row) => sum + self(row), 0);
  const per = (
    key: "self_host_ms" | "total_host_ms" | "self_device_ms" | "total_device_ms",
    title: string,
    hint: string,
  ) => ({
    key,
    title,
    hint: `${hint}, ${perWords(summary)}`,
    value: (row: OperatorRow) => row[key],
    cell: (row: OperatorRow) => time(row[key] / steps),
  });
  const columns: Column<OperatorRow>[] = [
    {
      key: "name",
      title: "Operator",
      text: true,
      value: (row) => row.name,
      cell: (row) => (
        <>
          <Short text={row.name} />
          {row.is_annotation && <small title="A record_function of the training, not an operator"> annotation</small>}
          {row.shapes !== null && (
            <small class="shapes">
              <Short text={row.shapes} length={70} />
            </small>
          )}
        </>
      ),
    },
    {
      key: "share",
      title: "Share",
      hint: `Of the self time of all operators on the ${device ? "device" : "host"}`,
      value: self,
      cell: (row) => percent(share(self(row), whole), 1),
    },
    ...(device
      ? [
          per("self_device_ms", "Self, device", "Device work that it started itself"),
          per("total_device_ms", "Total, device", "With what it calls"),
        ]
      : []),
    per("self_host_ms", "Self, host", "Time on the host without what it calls"),
    per("total_host_ms", "Total, host", "With what it calls"),
    {
      key: "calls",
      title: summary.num_steps_used ? "Calls a step" : "Calls",
      value: (row) => row.num_calls,
      cell: (row) => calls(row.num_calls / steps),
    },
  ];
  return (
    <Grid
      caption={`Operators, ${perWords(summary)}`}
      rows={rows}
      columns={columns}
      rowKey={(row) => JSON.stringify([row.name, row.shapes, row.is_annotation])}
      order={{ key: "share", descending: true }}
      cap={25}
      text={(row) => `${row.name} ${row.shapes ?? ""}`}
      searchLabel="Search operators"
      total={apart.value || !shaped ? listed : rows.length}
      tools={
        <>
          {shaped && (
            <Check checked={apart.value} onChange={() => (apart.value = !apart.value)}>
              Tell input shapes apart
            </Check>
          )}
          {csv}
        </>
      }
    />
  );
}

function Kernels({ summary, csv }: TableProps) {
  const { kernels: rows, num_kernels: total } = summary;
  if (!rows.length) return <p class="note">No kernel, copy or fill on a device is in this trace.</p>;
  const steps = divisor(summary);
  const all = rows.reduce((sum, row) => sum + row.total_ms, 0);
  const columns: Column<KernelRow>[] = [
    {
      key: "name",
      title: "Kernel",
      text: true,
      value: (row) => row.name,
      cell: (row) => <Short text={row.name} length={110} />,
    },
    { key: "kind", title: "Kind", text: true, value: (row) => row.kind, cell: (row) => visible(row.kind) },
    {
      key: "operator",
      title: "Started by",
      hint: "The operator that started most of its time",
      text: true,
      value: (row) => row.operator,
      cell: (row) => (row.operator === null ? MISSING : <Short text={row.operator} length={32} />),
    },
    { key: "share", title: "Share", value: (row) => row.total_ms, cell: (row) => percent(share(row.total_ms, all), 1) },
    {
      key: "total",
      title: summary.num_steps_used ? "Time a step" : "Time",
      value: (row) => row.total_ms,
      cell: (row) => time(row.total_ms / steps),
    },
    {
      key: "calls",
      title: summary.num_steps_used ? "Calls a step" : "Calls",
      value: (row) => row.num_calls,
      cell: (row) => calls(row.num_calls / steps),
    },
    { key: "mean", title: "Mean", value: (row) => row.mean_us, cell: (row) => time(row.mean_us / 1000) },
    { key: "max", title: "Longest", value: (row) => row.max_us, cell: (row) => time(row.max_us / 1000) },
  ];
  return (
    <Grid
      caption={`Kernels, ${perWords(summary)}`}
      rows={rows}
      columns={columns}
      rowKey={(row) => JSON.stringify([row.name, row.kind])}
      order={{ key: "share", descending: true }}
      cap={25}
      text={(row) => `${row.name} ${row.kind} ${row.operator ?? ""}`}
      searchLabel="Search kernels"
      wrap
      total={total}
      tools={csv}
    />
  );
}

function Steps({ summary, csv }: TableProps) {
  const { steps: rows, device_busy_share: busy } = summary;
  if (!rows.length) return <p class="note">This trace marks no step.</p>;
  const columns: Column<StepSlice>[] = [
    { key: "step", title: "Step", text: true, value: (row) => BigInt(row.step), cell: stepName },
    { key: "duration", title: "Duration", value: (row) => row.duration_ms, cell: (row) => time(row.duration_ms) },
    ...PARTS.map((part, i) => ({
      key: part,
      title: sentence(PART_NAMES[part]),
      value: (row: StepSlice) => row.breakdown_ms[i]!,
      cell: (row: StepSlice) => time(row.breakdown_ms[i]),
    })),
    ...(busy === null
      ? []
      : [
          {
            key: "busy",
            title: "Device busy",
            value: (row: StepSlice) => row.device_busy_ms,
            cell: (row: StepSlice) => time(row.device_busy_ms),
          },
          {
            key: "communication",
            title: "Communication",
            hint: "All of it, and what runs beside other device work",
            value: (row: StepSlice) => row.communication_ms,
            cell: (row: StepSlice) => `${time(row.communication_ms)}, ${time(row.overlapped_ms)} overlapped`,
          },
          {
            key: "kernels",
            title: "Kernels started",
            value: (row: StepSlice) => row.num_kernels,
            cell: (row: StepSlice) => integer(row.num_kernels),
          },
        ]),
  ];
  return (
    <Grid
      caption="Steps of the trace"
      rows={rows}
      columns={columns}
      rowKey={(row) => `${row.step} ${row.start_ms}`}
      order={{ key: "step", descending: false }}
      tools={csv}
    />
  );
}

function Waits({ summary, csv }: TableProps) {
  const { waits: rows } = summary;
  if (!rows.length) return <p class="note">No wait was found in this trace.</p>;
  const columns: Column<Wait>[] = [
    { key: "duration", title: "Length", value: (row) => row.duration_ms, cell: (row) => time(row.duration_ms) },
    { key: "kind", title: "Kind", text: true, value: (row) => row.kind, cell: (row) => visible(row.kind) },
    {
      key: "name",
      title: "What waits, or what the host does meanwhile",
      text: true,
      value: (row) => row.name,
      cell: (row) => (row.name === null ? "nothing is recorded there" : <Short text={row.name} />),
    },
    {
      key: "step",
      title: "In step",
      value: (row) => (row.step === null ? null : BigInt(row.step)),
      cell: (row) => (row.step === null ? "outside of steps" : integer(row.step)),
    },
    {
      key: "start",
      title: "Begins at",
      hint: "After the first event of the trace",
      value: (row) => row.start_ms,
      cell: (row) => time(row.start_ms, 5),
    },
  ];
  return (
    <Grid
      caption={count(rows.length, "longest wait")}
      rows={rows}
      columns={columns}
      rowKey={(row) => `${row.kind} ${row.start_ms}`}
      order={{ key: "duration", descending: true }}
      tools={csv}
    />
  );
}
