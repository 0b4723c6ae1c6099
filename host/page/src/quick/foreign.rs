//! Names within pictures and formulas: what HTML writes in lower case has capitals there, and some attributes a namespace.

use html5ever::{Namespace, ns};

/// Which vocabulary an element belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Vocabulary {
    Html,
    Svg,
    MathMl,
}

impl Vocabulary {
    pub(super) fn namespace(self) -> Namespace {
        match self {
            Self::Html => ns!(html),
            Self::Svg => ns!(svg),
            Self::MathMl => ns!(mathml),
        }
    }
}

/// The names of SVG elements that have capitals.
const SVG_ELEMENTS: &[&str] = &[
    "altGlyph",
    "altGlyphDef",
    "altGlyphItem",
    "animateColor",
    "animateMotion",
    "animateTransform",
    "clipPath",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "foreignObject",
    "glyphRef",
    "linearGradient",
    "radialGradient",
    "textPath",
];

/// The names of SVG attributes that have capitals.
const SVG_ATTRIBUTES: &[&str] = &[
    "attributeName",
    "attributeType",
    "baseFrequency",
    "baseProfile",
    "calcMode",
    "clipPathUnits",
    "diffuseConstant",
    "edgeMode",
    "filterUnits",
    "glyphRef",
    "gradientTransform",
    "gradientUnits",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lengthAdjust",
    "limitingConeAngle",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "maskContentUnits",
    "maskUnits",
    "numOctaves",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredExtensions",
    "requiredFeatures",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "viewBox",
    "viewTarget",
    "xChannelSelector",
    "yChannelSelector",
    "zoomAndPan",
];

/// The attributes with a namespace: as they are written, and the local name.
const QUALIFIED: &[(&str, &str)] = &[
    ("xlink:actuate", "actuate"),
    ("xlink:arcrole", "arcrole"),
    ("xlink:href", "href"),
    ("xlink:role", "role"),
    ("xlink:show", "show"),
    ("xlink:title", "title"),
    ("xlink:type", "type"),
    ("xml:lang", "lang"),
    ("xml:space", "space"),
    ("xmlns", "xmlns"),
    ("xmlns:xlink", "xlink"),
];

fn capitals(names: &[&'static str], written: &str) -> Option<&'static str> {
    names.iter().copied().find(|name| name.eq_ignore_ascii_case(written))
}

/// The name of an SVG element, if it has capitals.
pub(super) fn svg_element(written: &str) -> Option<&'static str> {
    capitals(SVG_ELEMENTS, written)
}

/// The local name of an attribute of a foreign element and its namespace, if they are others than those of HTML.
pub(super) fn attribute(vocabulary: Vocabulary, written: &str) -> Option<(Namespace, &'static str)> {
    let name = match vocabulary {
        Vocabulary::Html => return None,
        Vocabulary::Svg => capitals(SVG_ATTRIBUTES, written),
        Vocabulary::MathMl => capitals(&["definitionURL"], written),
    };
    let qualified = || {
        let (written, local) = *QUALIFIED.iter().find(|(name, _)| name.eq_ignore_ascii_case(written))?;
        let namespace = match written.as_bytes()[2..] {
            [b'i', ..] => ns!(xlink),
            [b'l', b':', ..] => ns!(xml),
            _ => ns!(xmlns),
        };
        Some((namespace, local))
    };
    name.map(|name| (ns!(), name)).or_else(qualified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_the_namespaces_of_their_prefixes() {
        let of = |written| attribute(Vocabulary::Svg, written);
        assert_eq!(of("xlink:HREF"), Some((ns!(xlink), "href")));
        assert_eq!(of("xml:lang"), Some((ns!(xml), "lang")));
        assert_eq!(of("xmlns"), Some((ns!(xmlns), "xmlns")));
        assert_eq!(of("xmlns:xlink"), Some((ns!(xmlns), "xlink")));
        assert_eq!(of("viewbox"), Some((ns!(), "viewBox")));
        assert_eq!(of("href"), None);
        assert_eq!(attribute(Vocabulary::Html, "xmlns"), None);
    }
}
