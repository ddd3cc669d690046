// Draws the price history that the page carries as data; the table beside it says the same.
(() => {
  const data = JSON.parse(document.getElementById("price-history").textContent);
  const place = document.getElementById("price-chart");
  const language = document.documentElement.lang;
  const money = new Intl.NumberFormat(language, { style: "currency", currency: data.currency, maximumFractionDigits: 4 });
  const dates = { timeZone: "UTC", day: "numeric", month: "short" };
  const day = new Intl.DateTimeFormat(language, dates);
  const fullDay = new Intl.DateTimeFormat(language, { ...dates, year: "numeric" });

  // The tokens are pairs for day and night: only the browser knows which one holds.
  const color = (value) => {
    const probe = document.createElement("span");
    probe.style.color = value;
    place.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const price = (_chart, value) => (value === null ? "–" : money.format(value));
  // A day between two gaps has no line; it gets a dot.
  const alone = (chart, series) => {
    const values = chart.data[series];
    return [...values.keys()].filter((at) => values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null);
  };
  const line = (label, look) => ({
    label,
    value: price,
    paths: uPlot.paths.stepped({ align: 1 }),
    points: { show: Boolean(look.width), filter: alone, size: 7, fill: look.stroke },
    ...look,
  });

  const options = () => {
    const ink = color("var(--ink-soft)");
    const brand = color("var(--brand)");
    const axis = { stroke: ink, font: "12px system-ui, sans-serif", grid: { stroke: color("var(--line)"), width: 1 }, ticks: { show: false } };
    const band = color("color-mix(in srgb, var(--brand) 16%, transparent)");
    const edge = { stroke: band, width: 0 };
    return {
      width: place.clientWidth,
      height: 260,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_chart, least, most) => [Math.max(0, least - (most - least || most) * 0.25), most + (most - least || most) * 0.25] } },
      axes: [
        { ...axis, space: 70, values: (_chart, marks) => marks.map((mark) => day.format(mark * 1000)) },
        { ...axis, size: 76, values: (_chart, marks) => marks.map((mark) => money.format(mark)) },
      ],
      series: [
        { label: data.labels.at, value: (_chart, at) => (at === null ? "–" : fullDay.format(at * 1000)) },
        line(data.labels.best, { stroke: brand, width: 2.5 }),
        line(data.labels.low, edge),
        line(data.labels.median, { stroke: color("var(--part-4)"), width: 2, dash: [6, 4] }),
        line(data.labels.high, edge),
      ],
      hooks: { ready: [(ready) => ready.setLegend({ idx: data.times.length - 1 })] },
      bands: [{ series: [4, 2], fill: band }],
    };
  };

  const numbers = (values) => values.map((value) => (value === null ? null : Number(value)));
  const columns = [data.times, numbers(data.best), numbers(data.low), numbers(data.median), numbers(data.high)];
  let chart;
  const draw = () => {
    chart?.destroy();
    chart = new uPlot(options(), columns, place);
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => {
    chart.setSize({ width: place.clientWidth, height: 260 });
  }).observe(place);
})();
