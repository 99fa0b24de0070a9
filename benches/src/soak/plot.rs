//! Plots of the samples: one file with a panel for each quantity.

use std::path::Path;

use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;

use super::sampler::Sample;

const SIZE: (u32, u32) = (1500, 1700);
const COLORS: [RGBColor; 5] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(120, 120, 120),
];

type Get = fn(&Sample) -> f64;

/// One panel: its title and its lines.
struct Panel {
    title: &'static str,
    lines: &'static [(&'static str, Get)],
    scale: Scale,
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    Logarithmic,
}

const KB_PER_MB: f64 = 1024.0;
const BYTES_PER_MB: f64 = 1_000_000.0;

const PANELS: &[Panel] = &[
    Panel {
        title: "Memory of keepers, standbys, servers and the sandbox (PSS, MB)",
        lines: &[
            ("all", |sample| sample.memory_kb / KB_PER_MB),
            ("steady servers and their keepers", |sample| sample.steady_kb / KB_PER_MB),
            ("largest process", |sample| sample.largest_kb / KB_PER_MB),
        ],
        scale: Scale::Linear,
    },
    Panel {
        title: "Descriptors of the same processes (number)",
        lines: &[
            ("all", |sample| sample.descriptors),
            ("steady servers and their keepers", |sample| sample.steady_descriptors),
            ("process with the most", |sample| sample.most_descriptors),
        ],
        scale: Scale::Linear,
    },
    Panel {
        title: "shellgate processes (number)",
        lines: &[("all", |sample| sample.processes), ("without front ends", |sample| sample.lasting)],
        scale: Scale::Linear,
    },
    Panel {
        title: "Files in the state folder (number)",
        lines: &[("files", |sample| sample.files)],
        scale: Scale::Linear,
    },
    Panel {
        title: "Bytes in the state folder without the journal (MB)",
        lines: &[("stored output and the rest", |sample| sample.file_bytes / BYTES_PER_MB)],
        scale: Scale::Linear,
    },
    Panel {
        title: "Bytes of the journal, which is pruned (MB)",
        lines: &[("journal", |sample| sample.journal_bytes / BYTES_PER_MB)],
        scale: Scale::Linear,
    },
    Panel {
        title: "Latency of right plain calls (ms)",
        lines: &[
            ("p50 of undisturbed calls", |sample| sample.p50_ms),
            ("p99 of undisturbed calls", |sample| sample.p99_ms),
            ("max of undisturbed calls", |sample| sample.max_calm_ms),
            ("max of all", |sample| sample.max_ms),
            ("bare bash -c true, p50", |sample| sample.floor_ms),
        ],
        scale: Scale::Logarithmic,
    },
    Panel {
        title: "Calls (per 10 s), and CPU of the machine (%)",
        lines: &[
            ("right", |sample| sample.right),
            ("wrong", |sample| sample.wrong),
            ("CPU, %", |sample| sample.cpu_percent),
            ("honest error", |sample| sample.honest),
        ],
        scale: Scale::Linear,
    },
];

/// Draws all panels.
pub(super) fn draw(file: &Path, samples: &[Sample]) -> Result<(), String> {
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    let drawn = root.fill(&WHITE).map_err(|error| error.to_string()).and_then(|()| {
        let areas = root.split_evenly((PANELS.len().div_ceil(2), 2));
        PANELS.iter().zip(&areas).try_for_each(|(panel, area)| panel.draw(area, samples))
    });
    drawn.and_then(|()| root.present().map_err(|error| error.to_string()))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Panel {
    fn draw(&self, area: &Area<'_>, samples: &[Sample]) -> Result<(), String> {
        let minutes = samples.last().map_or(1.0, |sample| sample.seconds / 60.0);
        let values = || samples.iter().flat_map(|sample| self.lines.iter().map(|(_, get)| get(sample)));
        let top = values().fold(1.0, f64::max) * 1.3;
        let mut chart = ChartBuilder::on(area);
        chart.caption(self.title, ("sans-serif", 20)).margin(12).x_label_area_size(36).y_label_area_size(58);
        let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
        match self.scale {
            Scale::Linear => {
                let mut chart = chart.build_cartesian_2d(0.0..minutes, 0.0..top).map_err(failed)?;
                self.fill(&mut chart, samples)
            }
            Scale::Logarithmic => {
                let bottom = values().filter(|value| *value > 0.0).fold(f64::MAX, f64::min) / 1.5;
                let range = (bottom.min(top / 2.0)..top * 12.0).log_scale();
                let mut chart = chart.build_cartesian_2d(0.0..minutes, range).map_err(failed)?;
                self.fill(&mut chart, samples)
            }
        }
    }

    fn fill<'a, 'b: 'a, Y>(&self, chart: &mut Chart<'a, 'b, Y>, samples: &[Sample]) -> Result<(), String>
    where
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
        let number = |value: &f64| {
            let is_whole = *value >= 10.0 || value.fract() == 0.0;
            if is_whole { format!("{value:.0}") } else { format!("{value:.1}") }
        };
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("minutes").x_labels(13).y_labels(7).max_light_lines(1).label_style(("sans-serif", 14));
        mesh.x_label_formatter(&number).y_label_formatter(&number);
        mesh.draw().map_err(failed)?;
        for ((name, get), color) in self.lines.iter().zip(COLORS) {
            // A window without a call has no latency.
            let is_there = |sample: &&Sample| self.scale == Scale::Linear || get(sample) > 0.0;
            let points = samples.iter().filter(is_there).map(|sample| (sample.seconds / 60.0, get(sample)));
            let series = chart.draw_series(LineSeries::new(points, color.stroke_width(2))).map_err(failed)?;
            series
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(3)));
        }
        let mut legend = chart.configure_series_labels();
        legend.position(SeriesLabelPosition::UpperRight).label_font(("sans-serif", 14));
        legend.background_style(WHITE.mix(0.85)).border_style(RGBColor(200, 200, 200));
        legend.draw().map_err(failed)
    }
}

type Chart<'a, 'b, Y> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<plotters::coord::types::RangedCoordf64, Y>>;
